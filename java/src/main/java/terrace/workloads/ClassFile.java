package terrace.workloads;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.util.zip.CRC32;
import javax.tools.SimpleJavaFileObject;

/** A class file in memory, written by a compiler, perhaps read by another. */
final class ClassFile extends SimpleJavaFileObject {
    private final String className;
    private final Runnable onWritten;
    private byte[] content = {};

    /** A class file that is about to be written; {@code onWritten} runs when it is complete. */
    ClassFile(String className, Runnable onWritten) {
        super(URI.create("memory:///" + className.replace('.', '/') + Kind.CLASS.extension), Kind.CLASS);
        this.className = className;
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
                onWritten.run();
            }
        };
    }
}
