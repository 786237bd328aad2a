// Parses inputs with parsers that ANTLR has generated (G4Build.java), with their actions, predicates and base classes.
//
// Usage: java -cp ANTLR.jar:CLASSES:PARSER G4Judge LEXER PARSER START SECONDS SLOW FIRST DIRECTORY CODE [MORE ...]
//
// LEXER and PARSER are the names of classes. Parses the files of the directory from the place FIRST on, in the order of
// their names, for SECONDS. A file that takes more than SLOW seconds is passed over. Both are seconds of
// processor time, so that a busy machine changes nothing. CODE is 1 for grammars with predicates or a superclass: these
// are parsed in the full mode at once, as code may do something else when a text is parsed again. What follows is for
// base classes that look at the command line. Prints a line of JSON after each file: the next file's place, the seconds
// so far, how many files were parsed, how many without an error up to their end, how many took too long, and the first
// errors. Ends with code 3 where a file holds it up and the caller must begin again after it.

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.antlr.v4.runtime.BailErrorStrategy;
import org.antlr.v4.runtime.BaseErrorListener;
import org.antlr.v4.runtime.CharStream;
import org.antlr.v4.runtime.CharStreams;
import org.antlr.v4.runtime.CommonTokenStream;
import org.antlr.v4.runtime.Lexer;
import org.antlr.v4.runtime.Parser;
import org.antlr.v4.runtime.RecognitionException;
import org.antlr.v4.runtime.Recognizer;
import org.antlr.v4.runtime.Token;
import org.antlr.v4.runtime.TokenSource;
import org.antlr.v4.runtime.TokenStream;
import org.antlr.v4.runtime.atn.PredictionMode;
import org.antlr.v4.runtime.misc.ParseCancellationException;

public class G4Judge {
    /** Thrown where a text takes too long. */
    static class Slow extends RuntimeException {}

    /** The first error of a text. */
    static class FirstError extends BaseErrorListener {
        String message = null;

        @Override
        public void syntaxError(
                Recognizer<?, ?> recognizer, Object symbol, int line, int column, String text, RecognitionException cause) {
            if (message == null) message = line + ":" + column + " " + text;
        }
    }

    /** Tokens that are not given after a deadline. */
    static class Tokens extends CommonTokenStream {
        int calls = 0;

        Tokens(TokenSource source) {
            super(source);
        }

        @Override
        public int LA(int place) {
            // The clock of processor time is slow to read.
            if (++calls % 64 == 0 && clock.getCurrentThreadCpuTime() > deadline) throw new Slow();
            return super.LA(place);
        }
    }

    static final ThreadMXBean clock = ManagementFactory.getThreadMXBean();
    /** In nanoseconds of the judge's thread. */
    static volatile long deadline = Long.MAX_VALUE;

    final Constructor<? extends Lexer> lexer;
    final Constructor<? extends Parser> parser;
    final Method start;
    final boolean code;

    G4Judge(String lexer, String parser, String start, boolean code) throws ReflectiveOperationException {
        this.lexer = Class.forName(lexer).asSubclass(Lexer.class).getConstructor(CharStream.class);
        this.parser = Class.forName(parser).asSubclass(Parser.class).getConstructor(TokenStream.class);
        this.start = method(this.parser.getDeclaringClass(), start);
        this.code = code;
    }

    /** The method of a rule. The tool puts a `_` after names that Java has for itself. */
    static Method method(Class<?> parser, String rule) throws NoSuchMethodException {
        return Arrays.stream(parser.getMethods())
                .filter(method -> method.getName().equals(rule) || method.getName().equals(rule + "_"))
                .min((left, right) -> left.getName().length() - right.getName().length())
                .orElseThrow(() -> new NoSuchMethodException("no rule " + rule));
    }

    /** What Java has in a new variable of each parameter's type. */
    static Object[] defaults(Method method) {
        return Arrays.stream(method.getParameterTypes()).map(type -> Array.get(Array.newInstance(type, 1), 0)).toArray();
    }

    /** The first error of the lexer or the parser in a text, or null. All objects are new: code may keep what it has
     * seen. */
    String firstError(String text, PredictionMode mode) throws Exception {
        var listener = new FirstError();
        var lexer = this.lexer.newInstance(CharStreams.fromString(text));
        lexer.removeErrorListeners();
        lexer.addErrorListener(listener);
        var parser = this.parser.newInstance(new Tokens(lexer));
        parser.removeErrorListeners();
        parser.addErrorListener(listener);
        parser.setBuildParseTree(code);
        parser.getInterpreter().setPredictionMode(mode);
        if (mode == PredictionMode.SLL) parser.setErrorHandler(new BailErrorStrategy());
        try {
            start.invoke(parser, defaults(start));
        } catch (InvocationTargetException failed) {
            if (failed.getCause() instanceof Error) throw (Error) failed.getCause();
            if (listener.message == null) throw (Exception) failed.getCause();
        }
        // The stream may be another one than the parser has been given.
        var tokens = parser.getInputStream();
        if (listener.message == null && tokens.LA(1) != Token.EOF) {
            return "stopped before the end, at " + tokens.LT(1).getText();
        }
        return listener.message;
    }

    String firstError(String text) throws Exception {
        if (code) return firstError(text, PredictionMode.LL);
        // The fast mode first: what it accepts the full one does, too.
        try {
            if (firstError(text, PredictionMode.SLL) == null) return null;
        } catch (ParseCancellationException fails) {
            // The full mode says what is wrong, if anything.
        }
        return firstError(text, PredictionMode.LL);
    }

    static String quoted(String text) {
        var out = new StringBuilder("\"");
        text.chars().limit(200).forEach(c -> out.append(c < 32 || c == '"' || c == '\\' || c > 126 ? String.format("\\u%04x", c) : "" + (char) c));
        return out.append('"').toString();
    }

    /** The judge's own; what actions print is dropped. */
    static final PrintStream out = System.out;
    static volatile long thread;
    static int next, parsed, accepted, slow;
    static final List<String> errors = new ArrayList<>();

    static synchronized void report() {
        out.println(
                "{\"next\": " + next + ", \"seconds\": " + clock.getThreadCpuTime(thread) / 1e9 + ", \"parsed\": " + parsed + ", \"accepted\": " + accepted + ", \"slow\": " + slow
                        + ", \"errors\": " + errors.stream().map(G4Judge::quoted).collect(Collectors.toList()) + "}");
    }

    static void judge(String[] arguments) throws Exception {
        thread = Thread.currentThread().getId();
        var judge = new G4Judge(arguments[0], arguments[1], arguments[2], arguments[7].equals("1"));
        var end = clock.getCurrentThreadCpuTime() + (long) (1e9 * Double.parseDouble(arguments[3]));
        var limit = (long) (1e9 * Double.parseDouble(arguments[4]));
        next = Integer.parseInt(arguments[5]);
        List<Path> files;
        try (var entries = Files.list(Path.of(arguments[6]))) {
            files = entries.sorted().collect(Collectors.toList());
        }
        while (next < files.size() && clock.getCurrentThreadCpuTime() < end) {
            var file = files.get(next);
            var text = Files.readString(file, StandardCharsets.UTF_8);
            String error;
            deadline = clock.getCurrentThreadCpuTime() + limit;
            try {
                error = judge.firstError(text);
                parsed += 1;
                if (error == null) accepted += 1;
                else if (errors.size() < 5) errors.add(file.getFileName() + ": " + error);
            } catch (Slow stopped) {
                slow += 1;
            } catch (Exception | StackOverflowError failed) {
                parsed += 1;
                if (errors.size() < 5) errors.add(file.getFileName() + ": " + failed);
            }
            deadline = Long.MAX_VALUE;
            next += 1;
            report();
        }
        System.exit(0);
    }

    public static void main(String[] arguments) throws Exception {
        var limit = (long) (1e9 * Double.parseDouble(arguments[4]));
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        var thread = new Thread(null, () -> {
            try {
                judge(arguments);
            } catch (Exception | LinkageError failed) {
                System.err.println(failed);
                System.exit(1);
            }
        }, "judge", 1L << 30);
        thread.setDaemon(true);
        thread.start();
        // A text may hold up the parser between two tokens.
        while (thread.isAlive()) {
            Thread.sleep(100);
            var until = deadline;
            if (until != Long.MAX_VALUE && clock.getThreadCpuTime(G4Judge.thread) > until + limit && deadline == until) {
                slow += 1;
                next += 1;
                report();
                System.exit(3);
            }
        }
    }
}
