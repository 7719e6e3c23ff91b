package terrace.workloads;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.util.function.IntConsumer;
import java.util.zip.CRC32;
import javax.tools.FileObject;
import javax.tools.SimpleJavaFileObject;

/** A class file in memory, written by a compiler, perhaps read by another. */
final class ClassFile extends SimpleJavaFileObject {
    private final String className;
    private final FileObject origin;
    private final IntConsumer onWritten;
    private byte[] content = {};

    /**
     * A class file that is about to be written.
     *
     * @param className binary name of the class
     * @param origin the source file that it comes from
     * @param onWritten is told the length when the file is complete
     */
    ClassFile(String className, FileObject origin, IntConsumer onWritten) {
        super(URI.create("memory:///" + className.replace('.', '/') + Kind.CLASS.extension), Kind.CLASS);
        this.className = className;
        this.origin = origin;
        this.onWritten = onWritten;
    }

    /** The binary name of the class. */
    String className() {
        return className;
    }

    /** The package of the class; empty for the unnamed package. */
    String packageName() {
        return className.substring(0, Math.max(0, className.lastIndexOf('.')));
    }

    /** The source file that it comes from. */
    FileObject origin() {
        return origin;
    }

    /** Bytes in the file. */
    int length() {
        return content.length;
    }

    /** A checksum of the content. */
    long checksum() {
        CRC32 crc = new CRC32();
        crc.update(content);
        return crc.getValue();
    }

    @Override
    public InputStream openInputStream() {
        return new ByteArrayInputStream(content);
    }

    @Override
    public OutputStream openOutputStream() {
        return new ByteArrayOutputStream() {
            @Override
            public void close() throws IOException {
                super.close();
                content = toByteArray();
                onWritten.accept(content.length);
            }
        };
    }
}
