package gramjet;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Calls a method on inputs. Arguments: class, method, "text" or "bytes", which is tried first. */
public final class Worker {
    private static final int RETURNED = 0, EXITED = 1, RAISED = 2, NO_MEMORY = 3;

    private static Thread runner;
    private static Integer exited;

    /** Ends a run, but not the process. */
    private static final class Exit extends Error {
        private static final long serialVersionUID = 1;

        Exit() {
            super(null, null, false, false);
        }
    }

    private Worker() {}

    /** What `System.exit` is in the code under test. */
    public static void exit(int status) {
        if (Thread.currentThread() != runner) {
            System.exit(status);
        }
        if (exited == null) {
            exited = status & 255;
        }
        throw new Exit();
    }

    /** What `exit` and `halt` of a `Runtime` are in the code under test. */
    public static void exit(Runtime runtime, int status) {
        exit(status);
    }

    public static void main(String[] arguments) throws IOException {
        runner = Thread.currentThread();
        Function function = Function.find(arguments[0], arguments[1], arguments[2].equals("text"));
        PrintStream out = System.out, err = System.err;
        InputStream in = System.in;
        out.flush();
        err.flush();
        try (RandomAccessFile times = new RandomAccessFile("/proc/thread-self/schedstat", "r")) {
            Run.prepare();
            Channel.answer('R', new byte[0]);
            for (byte[] input; (input = Channel.receive()) != null; ) {
                long before = nanoseconds(times);
                Run run = Run.of(function, input);
                boolean isSpent = run.how == NO_MEMORY | threadsAreLeft();
                System.out.flush();
                System.err.flush();
                System.setOut(out);
                System.setErr(err);
                System.setIn(in);
                isSpent |= out.checkError() | err.checkError();
                long time = (nanoseconds(times) - before) / 1000;
                byte[] text = Channel.text(run.raised);
                ByteBuffer done = Channel.buffer(22 + text.length);
                done.put((byte) run.how).put((byte) (isSpent ? 1 : 0)).putInt(run.status).putLong(time).putLong(0).put(text);
                Channel.answer('D', done.array());
            }
        }
        Runtime.getRuntime().halt(0);
    }

    /** Processor time of this thread. */
    private static long nanoseconds(RandomAccessFile times) throws IOException {
        times.seek(0);
        long time = 0;
        byte[] digits = new byte[64];
        int length = times.read(digits);
        for (int i = 0; i < length && digits[i] != ' '; i++) {
            time = 10 * time + digits[i] - '0';
        }
        return time;
    }

    /** Waits for threads as the virtual machine does before it ends. Whether some are left. */
    private static boolean threadsAreLeft() {
        boolean areLeft = false;
        ThreadGroup group = runner.getThreadGroup();
        if (group.activeCount() <= 1) {
            return false;
        }
        Thread[] threads = new Thread[group.activeCount() + 16];
        int count = group.enumerate(threads);
        for (int i = 0; i < count; i++) {
            if (threads[i] == runner || threads[i].getName().startsWith("ForkJoinPool.commonPool-worker-")) {
                continue;
            }
            if (threads[i].isDaemon()) {
                areLeft = true;
                continue;
            }
            try {
                threads[i].join();
            } catch (InterruptedException error) {
                areLeft = true;
            }
        }
        return areLeft;
    }

    private static void refuse(String message) {
        try {
            byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
            Channel.answer('X', java.util.Arrays.copyOf(bytes, Math.min(bytes.length, 3000)));
        } catch (IOException error) {
            // Nobody listens.
        }
        Runtime.getRuntime().halt(0);
    }

    /** How a run ended. */
    private static final class Run {
        final int how;
        final int status;
        /** The class of an exception, its frame, and the classes that it descends from. */
        final String[] raised;

        Run(int how, int status, String... raised) {
            this.how = how;
            this.status = status;
            this.raised = raised;
        }

        /** Loads what is used when the stack or the memory may be full. */
        static void prepare() {
            raised(new Error("prepared"), false);
        }

        static Run of(Function function, byte[] input) {
            exited = null;
            try {
                function.call(input);
            } catch (OutOfMemoryError error) {
                return new Run(NO_MEMORY, 0);
            } catch (Throwable error) {
                if (exited == null) {
                    return raised(error, true);
                }
            }
            return exited == null ? new Run(RETURNED, 0) : new Run(EXITED, exited);
        }

        private static Run raised(Throwable error, boolean isSaid) {
            String name = error.getClass().getName();
            String frame = "";
            for (StackTraceElement element : error.getStackTrace()) {
                if (element.getModuleName() == null && !element.getClassName().startsWith("gramjet.")) {
                    frame = place(element);
                    break;
                }
            }
            String message = null;
            try {
                message = error.getMessage();
            } catch (Throwable other) {
                // It says nothing.
            }
            if (isSaid) {
                String said = message == null ? "" : ": " + message.substring(0, Math.min(message.length(), 1000));
                System.err.println(name + said);
            }
            ArrayList<String> raised = new ArrayList<>(List.of(name, frame));
            for (Class<?> type = error.getClass(); type != Throwable.class && raised.size() < 32; ) {
                type = type.getSuperclass();
                raised.add(type.getName());
            }
            return new Run(RAISED, 0, raised.toArray(new String[0]));
        }

        private static String place(StackTraceElement element) {
            String type = element.getClassName();
            String file = element.getFileName() == null ? "Unknown" : element.getFileName();
            String folder = type.substring(0, type.lastIndexOf('.') + 1).replace('.', '/');
            return folder + file + ":" + element.getLineNumber() + " (" + type + "." + element.getMethodName() + ")";
        }
    }

    /** The method that is called. */
    private static final class Function {
        private final MethodHandle method;
        /** None for a static method. */
        private final MethodHandle constructor;
        private final boolean takesText;

        private Function(MethodHandle method, MethodHandle constructor, boolean takesText) {
            this.method = method;
            this.constructor = constructor;
            this.takesText = takesText;
        }

        void call(byte[] input) throws Throwable {
            Object argument = takesText ? new String(input, StandardCharsets.UTF_8) : input;
            if (constructor == null) {
                Object result = (Object) method.invokeExact(argument);
            } else {
                Object holder = (Object) constructor.invokeExact();
                Object result = (Object) method.invokeExact(holder, argument);
            }
        }

        static Function find(String className, String methodName, boolean prefersText) {
            try {
                Class<?> type = Class.forName(className, true, ClassLoader.getSystemClassLoader());
                for (boolean takesText : new boolean[] {prefersText, !prefersText}) {
                    Method method = method(type, methodName, takesText ? String.class : byte[].class);
                    if (method != null) {
                        return of(type, method, takesText);
                    }
                }
                refuse("the class `" + className + "` has no method `" + methodName + "` that takes byte[] or String");
            } catch (ClassNotFoundException error) {
                String path = System.getProperty("java.class.path");
                int own = path.lastIndexOf(File.pathSeparatorChar);
                refuse("there is no class `" + className + "` in " + (own < 0 ? path : path.substring(0, own)));
            } catch (NoSuchMethodException error) {
                refuse("the class `" + className + "` has no constructor without arguments, and `" + methodName
                        + "` is not static");
            } catch (Throwable error) {
                Throwable cause = error.getCause() == null ? error : error.getCause();
                refuse("the class `" + className + "` failed when it was loaded: " + cause);
            }
            throw new IllegalStateException();
        }

        private static Method method(Class<?> type, String name, Class<?> argument) {
            for (Class<?> holder = type; holder != null; holder = holder.getSuperclass()) {
                try {
                    return holder.getDeclaredMethod(name, argument);
                } catch (NoSuchMethodException error) {
                    // One of its parents may have it.
                }
            }
            return null;
        }

        private static Function of(Class<?> type, Method method, boolean takesText) throws ReflectiveOperationException {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            method.setAccessible(true);
            MethodHandle handle = lookup.unreflect(method);
            if (Modifier.isStatic(method.getModifiers())) {
                return new Function(handle.asType(MethodType.genericMethodType(1)), null, takesText);
            }
            Constructor<?> constructor = type.getDeclaredConstructor();
            constructor.setAccessible(true);
            MethodHandle made = lookup.unreflectConstructor(constructor).asType(MethodType.genericMethodType(0));
            return new Function(handle.asType(MethodType.genericMethodType(2)), made, takesText);
        }
    }
}
