package terrace.benchmarks;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * What {@code jdk.internal.misc.Unsafe} does beneath the class library: uninitialized arrays, and atomic access by address. The
 * handles are constants, so that compiled code has the intrinsics and no calls.
 */
final class Internals {
    /** What the measured JVM must be given. */
    static final String FLAG = "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED";

    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
    private static final Class<?> UNSAFE = unsafe();

    private static final MethodHandle ARRAY = array();
    private static final MethodHandle ALLOCATE = find("allocateMemory", long.class, long.class);
    private static final MethodHandle FILL = find("setMemory", void.class, long.class, long.class, byte.class);
    private static final MethodHandle GET = find("getLongVolatile", long.class, Object.class, long.class);
    private static final MethodHandle ADD = find("getAndAddLong", long.class, Object.class, long.class, long.class);
    private static final MethodHandle SET =
            find("compareAndSetLong", boolean.class, Object.class, long.class, long.class, long.class);

    private Internals() {}

    private static Class<?> unsafe() {
        try {
            return Class.forName("jdk.internal.misc.Unsafe");
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException("this Java runtime has no jdk.internal.misc.Unsafe", e);
        }
    }

    private static MethodHandle find(String name, Class<?> result, Class<?>... arguments) {
        try {
            Object instance = LOOKUP.findStatic(UNSAFE, "getUnsafe", MethodType.methodType(UNSAFE)).invoke();
            return LOOKUP.findVirtual(UNSAFE, name, MethodType.methodType(result, arguments)).bindTo(instance);
        } catch (Throwable e) {
            throw new IllegalStateException("no access to jdk.internal.misc.Unsafe." + name + ": run with " + FLAG, e);
        }
    }

    private static MethodHandle array() {
        MethodHandle any = find("allocateUninitializedArray", Object.class, Class.class, int.class);
        return MethodHandles.insertArguments(any, 0, byte.class)
                .asType(MethodType.methodType(byte[].class, int.class));
    }

    private static IllegalStateException undeclared(Throwable e) {
        if (e instanceof RuntimeException exception) {
            throw exception;
        }
        if (e instanceof Error error) {
            throw error;
        }
        return new IllegalStateException(e);
    }

    /** An array with whatever the memory held. */
    static byte[] uninitialized(int length) {
        try {
            return (byte[]) ARRAY.invokeExact(length);
        } catch (Throwable e) {
            throw undeclared(e);
        }
    }

    /** So many zeroed bytes outside of the Java heap, until the JVM ends. */
    static long allocate(long bytes) {
        try {
            long address = (long) ALLOCATE.invokeExact(bytes);
            FILL.invokeExact(address, bytes, (byte) 0);
            return address;
        } catch (Throwable e) {
            throw undeclared(e);
        }
    }

    /** The number at an address. */
    static long get(long address) {
        try {
            return (long) GET.invokeExact((Object) null, address);
        } catch (Throwable e) {
            throw undeclared(e);
        }
    }

    /** What {@link java.util.concurrent.atomic.AtomicLong#incrementAndGet} is: {@code lock xadd} on x86. */
    static long incrementAndGet(long address) {
        try {
            return (long) ADD.invokeExact((Object) null, address, 1L) + 1;
        } catch (Throwable e) {
            throw undeclared(e);
        }
    }

    /** What {@link java.util.concurrent.atomic.AtomicLong#compareAndSet} is: {@code lock cmpxchg} on x86. */
    static boolean compareAndSet(long address, long expected, long next) {
        try {
            return (boolean) SET.invokeExact((Object) null, address, expected, next);
        } catch (Throwable e) {
            throw undeclared(e);
        }
    }
}
