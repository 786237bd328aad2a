// Parses inputs with ANTLR's own interpreters: the lexer and parser run the automata that the tool made of a grammar.
// Actions are not run, predicates hold.
//
// Usage: java -cp ANTLR.jar:CLASSES G4Judge LEXER.interp PARSER.interp START SECONDS SLOW FIRST DIRECTORY
//
// Parses the files of the directory from the place FIRST on, in the order of their names, for so many SECONDS. A file that
// takes more than SLOW seconds is passed over. Both are seconds of processor time, so that a busy machine changes nothing.
// Prints a line of JSON after each file: the next file's place, the seconds so far, how many files were parsed, how many
// without an error up to their end, how many took too long, and the first errors. Ends with code 3 where a file holds it up and
// the caller must begin again behind it.

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.antlr.v4.runtime.BailErrorStrategy;
import org.antlr.v4.runtime.BaseErrorListener;
import org.antlr.v4.runtime.CharStreams;
import org.antlr.v4.runtime.CommonTokenStream;
import org.antlr.v4.runtime.DefaultErrorStrategy;
import org.antlr.v4.runtime.LexerInterpreter;
import org.antlr.v4.runtime.ParserInterpreter;
import org.antlr.v4.runtime.RecognitionException;
import org.antlr.v4.runtime.Recognizer;
import org.antlr.v4.runtime.Token;
import org.antlr.v4.runtime.TokenSource;
import org.antlr.v4.runtime.Vocabulary;
import org.antlr.v4.runtime.atn.PredictionMode;
import org.antlr.v4.runtime.misc.InterpreterDataReader;
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

    final LexerInterpreter lexer;
    final ParserInterpreter parser;
    final int start;

    G4Judge(String lexerFile, String parserFile, String start) throws IOException {
        var lexerData = InterpreterDataReader.parseFile(repaired(lexerFile));
        var parserData = InterpreterDataReader.parseFile(parserFile);
        lexer = new LexerInterpreter(
                lexerFile, G4Judge.<Vocabulary>field(lexerData, "vocabulary"), field(lexerData, "ruleNames"), field(lexerData, "channels"),
                field(lexerData, "modes"), field(lexerData, "atn"), CharStreams.fromString(""));
        parser = new ParserInterpreter(
                parserFile, G4Judge.<Vocabulary>field(parserData, "vocabulary"), field(parserData, "ruleNames"), field(parserData, "atn"),
                new CommonTokenStream(lexer));
        this.start = parser.getRuleIndex(start);
    }

    /** What the reader keeps to itself. */
    @SuppressWarnings("unchecked")
    static <T> T field(Object data, String name) {
        try {
            var field = data.getClass().getDeclaredField(name);
            field.setAccessible(true);
            return (T) field.get(data);
        } catch (ReflectiveOperationException changed) {
            throw new IllegalStateException(changed);
        }
    }

    /** Declared channels leave empty lines in the list of their names, which the reader takes for its end. */
    static String repaired(String file) throws IOException {
        var lines = new ArrayList<String>();
        var channels = false;
        for (var line : Files.readAllLines(Path.of(file), StandardCharsets.UTF_8)) {
            if (line.equals("mode names:")) {
                channels = false;
                lines.add("");
            }
            if (!channels || !line.isEmpty()) lines.add(line);
            channels |= line.equals("channel names:");
        }
        var copy = Files.createTempFile("lexer", ".interp");
        copy.toFile().deleteOnExit();
        Files.write(copy, lines);
        return copy.toString();
    }

    /** The first error in a text, or null. */
    String firstError(String text) {
        var listener = new FirstError();
        lexer.setInputStream(CharStreams.fromString(text));
        lexer.removeErrorListeners();
        lexer.addErrorListener(listener);
        var tokens = new Tokens(lexer);
        tokens.fill();
        if (listener.message != null) return listener.message;
        parser.removeErrorListeners();
        parser.addErrorListener(listener);
        // The fast mode first: what it accepts the full one does, too.
        parser.getInterpreter().setPredictionMode(PredictionMode.SLL);
        parser.setErrorHandler(new BailErrorStrategy());
        parser.setTokenStream(tokens);
        try {
            parser.parse(start);
            if (listener.message == null && tokens.LA(1) == Token.EOF) return null;
        } catch (ParseCancellationException | RecognitionException fails) {
            // The full mode says what is wrong, if anything.
        }
        listener.message = null;
        tokens.seek(0);
        parser.getInterpreter().setPredictionMode(PredictionMode.LL);
        parser.setErrorHandler(new DefaultErrorStrategy());
        parser.setTokenStream(tokens);
        parser.parse(start);
        if (listener.message == null && tokens.LA(1) != Token.EOF) {
            return "stopped before the end, at " + tokens.LT(1).getText();
        }
        return listener.message;
    }

    static String quoted(String text) {
        var out = new StringBuilder("\"");
        text.chars().limit(200).forEach(c -> out.append(c < 32 || c == '"' || c == '\\' || c > 126 ? String.format("\\u%04x", c) : "" + (char) c));
        return out.append('"').toString();
    }

    static volatile long thread;
    static int next, parsed, accepted, slow;
    static final List<String> errors = new ArrayList<>();

    static synchronized void report() {
        System.out.println(
                "{\"next\": " + next + ", \"seconds\": " + clock.getThreadCpuTime(thread) / 1e9 + ", \"parsed\": " + parsed + ", \"accepted\": " + accepted + ", \"slow\": " + slow
                        + ", \"errors\": " + errors.stream().map(G4Judge::quoted).collect(Collectors.toList()) + "}");
    }

    static void judge(String[] arguments) throws IOException {
        thread = Thread.currentThread().getId();
        var judge = new G4Judge(arguments[0], arguments[1], arguments[2]);
        if (judge.start < 0) {
            System.err.println("no rule " + arguments[2]);
            System.exit(1);
        }
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
            } catch (RuntimeException | StackOverflowError failed) {
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
        var thread = new Thread(null, () -> {
            try {
                judge(arguments);
            } catch (IOException failed) {
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
