package subjects;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Does what its input asks for: the first letter says what. */
public class Torture {
    static class Unusual extends RuntimeException {
        Unusual(String message) {
            super(message);
        }
    }

    private int calls;

    static int deep(int n) {
        return deep(n + 1) + 1;
    }

    static void raise() {
        throw new Unusual("not usual");
    }

    public static int run(byte[] data) throws Exception {
        String text = new String(data);
        switch (text.isEmpty() ? ' ' : text.charAt(0)) {
            case 'u': raise(); break;
            case 'j': Integer.parseInt("x"); break;
            case 'e': System.exit(Integer.parseInt(text.substring(1))); break;
            case 'h': Runtime.getRuntime().halt(6); break;
            case 'X': try { System.exit(7); } catch (Throwable error) { return 1; } break;
            case 'y': List.of(8).forEach(System::exit); break;
            case 'l': for (;;) { }
            case 'r': deep(0); break;
            case 'm': for (List<Object> kept = new ArrayList<>(); ; ) kept.add(new byte[1 << 20]);
            case 't': new Thread(() -> System.out.println("from a thread")).start(); break;
            case 'T': {
                Thread thread = new Thread(() -> sleep());
                thread.setDaemon(true);
                thread.start();
                break;
            }
            case 'p': System.out.println("a text"); System.err.print("an error"); break;
            case 'P': for (int i = 0; i < 10000; i++) System.out.println("x".repeat(999)); break;
            case 'Q': for (;;) System.out.println("x".repeat(999));
            case 'F': new ProcessBuilder("sleep", "1000").start(); break;
            case 'c': System.out.close(); break;
            case 'i': return System.in.read();
            case 'w': Files.writeString(Path.of(System.getenv("OUTSIDE")), ""); break;
            case 'n': for (int i = 0; i < data.length; i++) new Torture(data[i] > 'a' ? 1 : 2); break;
            default: break;
        }
        return 0;
    }

    Torture(int calls) {
        this.calls = calls;
    }

    Torture() {}

    private static void sleep() {
        try {
            Thread.sleep(1_000_000);
        } catch (InterruptedException error) {
            return;
        }
    }

    /** A loop and branches. */
    static int count(byte[] data) {
        int total = 0;
        for (byte b : data) {
            if (b == 'a') {
                total += 1;
            } else if (b == 'b') {
                total -= 1;
            }
            switch (b) {
                case 'c':
                    total += 2;
                    break;
                default:
                    total += 3;
            }
        }
        return total;
    }

    /** Called on an object of its own each time. */
    void method(String text) {
        calls++;
        if (calls > 1) {
            throw new IllegalStateException("called again");
        }
        if (text.equals("1")) {
            throw new IllegalArgumentException(text);
        }
    }

    static class NoConstructor {
        NoConstructor(int n) {}

        void method(String text) {}
    }

    static class Broken {
        static {
            raise();
        }

        static void method(String text) {}
    }

    /** A loop, after which all has been executed 2^32 - 1 times more. */
    static int often(byte[] data) throws IOException {
        try (var file = new java.io.RandomAccessFile("/proc/self/fd/196", "rw")) {
            var counters = file.getChannel()
                .map(java.nio.channels.FileChannel.MapMode.READ_WRITE, 0, 800)
                .order(java.nio.ByteOrder.nativeOrder())
                .asLongBuffer();
            for (int number = 1; number < 100; number++) {
                counters.put(number, counters.get(number) + 0xffff_ffffL);
            }
        }
        return count(data);
    }
}
