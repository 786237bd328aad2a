import java.io.FileOutputStream;
import java.io.FileDescriptor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Does harm: the first word of the input says how. What Java can do itself is here, the rest is in hostile.c. */
public class Hostile {
    static {
        System.load(System.getenv("HOSTILE_LIBRARY"));
    }

    static class Finding extends RuntimeException { }

    static native void give(int letter);

    static int benign(int much) throws IOException {
        int total = 0;
        for (int number = 0; number < much; number++) total += number % 3 > 0 ? number : 2;
        System.out.print("benign " + much + "\n");
        System.out.flush();
        return total;
    }

    static void sleep() {
        try {
            Thread.sleep(1000000);
        } catch (InterruptedException error) {
            sleep();
        }
    }

    public static void run(byte[] data) throws Exception {
        String[] words = new String(data).split(" ");
        int much = words.length > 1 ? Integer.parseInt(words[1]) : 0;
        switch (words[0]) {
            case "benign": benign(much); break;
            case "finding": throw new Finding();
            case "language_process": new ProcessBuilder("sleep", "1000").start(); break;
            case "language_threads":
                for (int number = 0; number < 10; number++) {
                    Thread thread = new Thread(() -> sleep());
                    thread.setDaemon(true);
                    thread.start();
                }
                break;
            case "language_files":
                try {
                    Files.writeString(Path.of(System.getenv("HOSTILE_OUTSIDE"), "new"), "x");
                } catch (IOException error) {
                    break;
                }
                Runtime.getRuntime().halt(77);
            case "language_exit": new Thread(() -> Runtime.getRuntime().halt(5)).start(); sleep(); break;
            case "language_streams": System.out.close(); System.err.close(); break;
            default:
                for (byte letter : data) give(letter);
                give(0);
        }
    }
}
