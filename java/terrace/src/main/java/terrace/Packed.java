package terrace;

import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * The library inside the jar.
 *
 * <p>The jar's directory has length and CRC-32 of what is inside, so that a copy can be compared without unpacking anything: a JVM that starts has compiled nothing yet, and
 * a SHA-256 of the library would take it longer than all else here together.
 */
final class Packed {
    private static final int CHUNK = 1 << 13;

    /** SHA-256, in hexadecimal: what a copy is named by. */
    final String digest;

    private final long length;
    private final long crc;
    /** The jar, or null: then the bytes. */
    private final File jar;

    private final String entry;
    private final byte[] bytes;

    private Packed(String digest, long length, long crc, File jar, String entry, byte[] bytes) {
        this.digest = digest;
        this.length = length;
        this.crc = crc;
        this.jar = jar;
        this.entry = entry;
        this.bytes = bytes;
    }

    /** The library for a platform, or null if there is none. */
    static Packed find(String platform) throws IOException {
        String entry = platform + "/libterrace.so";
        File jar = jar();
        if (jar == null) {
            byte[] bytes = resource(entry);
            byte[] digest = resource(entry + ".sha256");
            return bytes == null || digest == null ? null : of(text(digest), bytes);
        }
        try (ZipFile zip = new ZipFile(jar)) {
            ZipEntry library = zip.getEntry(entry);
            ZipEntry digest = zip.getEntry(entry + ".sha256");
            if (library == null || digest == null) {
                return null;
            }
            try (InputStream in = zip.getInputStream(digest)) {
                return new Packed(text(in.readAllBytes()), library.getSize(), library.getCrc(), jar, entry, null);
            }
        }
    }

    /** Bytes as they would be inside. */
    static Packed of(String digest, byte[] bytes) {
        CRC32 crc = new CRC32();
        crc.update(bytes);
        return new Packed(digest, bytes.length, crc.getValue(), null, null, bytes);
    }

    /** Whether a file has these bytes. */
    boolean is(Path file) throws IOException {
        if (Files.size(file) != length) {
            return false;
        }
        CRC32 found = new CRC32();
        byte[] chunk = new byte[CHUNK];
        // Not a channel: its classes would be loaded for this alone.
        try (InputStream in = new FileInputStream(file.toFile())) {
            for (int read = in.read(chunk); read > 0; read = in.read(chunk)) {
                found.update(chunk, 0, read);
            }
        }
        return found.getValue() == crc;
    }

    /** Writes the bytes into a file that is there. */
    void unpack(Path file) throws IOException {
        if (jar == null) {
            write(new ByteArrayInputStream(bytes), file);
            return;
        }
        try (ZipFile zip = new ZipFile(jar);
                InputStream in = zip.getInputStream(zip.getEntry(entry))) {
            write(in, file);
        }
    }

    private static void write(InputStream in, Path file) throws IOException {
        try (OutputStream out = Files.newOutputStream(file)) {
            in.transferTo(out);
        }
    }

    /** The jar that these classes are from, if it is one and a file. */
    private static File jar() {
        CodeSource source = Packed.class.getProtectionDomain().getCodeSource();
        if (source == null || source.getLocation() == null || !source.getLocation().getProtocol().equals("file")) {
            return null;
        }
        try {
            File file = new File(source.getLocation().toURI());
            return file.isFile() ? file : null;
        } catch (URISyntaxException | IllegalArgumentException unusual) {
            return null;
        }
    }

    private static byte[] resource(String name) throws IOException {
        try (InputStream in = Packed.class.getResourceAsStream("/" + name)) {
            return in == null ? null : in.readAllBytes();
        }
    }

    private static String text(byte[] digest) throws IOException {
        String text = new String(digest, StandardCharsets.US_ASCII).trim();
        if (text.length() != 64 || text.indexOf('/') >= 0) {
            throw new IOException("the library's digest is invalid");
        }
        return text;
    }
}
