package gramjet;

import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** What the worker and the harness share: the counters, the input and two pipes. See src/languages/protocol.rs. */
public final class Channel {
    private static final int INPUT = 195, COUNTERS = 196, REQUESTS = 198, ANSWERS = 199;

    private static final LongBuffer counters;
    private static final ByteBuffer input;
    private static final FileInputStream requests;
    private static final FileOutputStream answers;
    private static final Map<String, Integer> numbers = new HashMap<>();

    static {
        try {
            counters = map(COUNTERS, FileChannel.MapMode.READ_WRITE).asLongBuffer();
            input = map(INPUT, FileChannel.MapMode.READ_ONLY);
            requests = new FileInputStream(name(REQUESTS));
            answers = new FileOutputStream(name(ANSWERS));
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }

    private Channel() {}

    private static String name(int descriptor) {
        return "/proc/self/fd/" + descriptor;
    }

    private static ByteBuffer map(int descriptor, FileChannel.MapMode mode) throws IOException {
        String access = mode == FileChannel.MapMode.READ_ONLY ? "r" : "rw";
        try (RandomAccessFile file = new RandomAccessFile(name(descriptor), access)) {
            return file.getChannel().map(mode, 0, file.length()).order(ByteOrder.nativeOrder());
        }
    }

    /**
     * Makes the class be there: nothing of it may be loaded later, when the function under test may have used up the
     * stack.
     */
    static void open() {
        hit(0);
    }

    /** Counts. */
    public static void hit(int number) {
        counters.put(number, counters.get(number) + 1);
    }

    /**
     * The number of a counter for this edge; 0 if there is no room. Adds to {@code messages} what the harness is to
     * know.
     */
    static synchronized int number(String file, String function, String mark, int line, ByteArrayOutputStream messages) {
        byte[] key = text(file, function, mark);
        String known = new String(key, StandardCharsets.ISO_8859_1);
        Integer number = numbers.get(known);
        if (number != null) {
            return number;
        }
        if (numbers.size() + 1 >= counters.limit()) {
            return 0;
        }
        number = numbers.size() + 1;
        numbers.put(known, number);
        ByteBuffer message = buffer(13 + key.length);
        message.put((byte) 'E').putInt(8 + key.length).putInt(number).putInt(line).put(key);
        messages.writeBytes(message.array());
        return number;
    }

    static ByteBuffer buffer(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.nativeOrder());
    }

    /** Texts with a zero byte between. */
    static byte[] text(String... values) {
        ByteArrayOutputStream result = new ByteArrayOutputStream();
        for (int i = 0; i < values.length; i++) {
            if (i > 0) {
                result.write(0);
            }
            byte[] bytes = values[i].replace('\0', '?').getBytes(StandardCharsets.UTF_8);
            result.write(bytes, 0, Math.min(bytes.length, 900));
        }
        return result.toByteArray();
    }

    static void answer(char letter, byte[] body) throws IOException {
        send(buffer(5 + body.length).put((byte) letter).putInt(body.length).put(body).array());
    }

    static void send(byte[] messages) throws IOException {
        synchronized (answers) {
            answers.write(messages);
        }
    }

    /** The next input; null if the harness has gone. */
    static byte[] receive() throws IOException {
        byte[] length = new byte[4];
        if (requests.read(length) < length.length) {
            return null;
        }
        byte[] bytes = new byte[ByteBuffer.wrap(length).order(ByteOrder.nativeOrder()).getInt()];
        input.get(0, bytes);
        return bytes;
    }
}
