import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import com.sun.source.util.JavacTask;

/**
 * Judges Java compilation units by javac: what `java_judge.py` runs. Reads NUL-separated units; says `accepted N of M`
 * and why the first ones are rejected. With `--syntax` they are only parsed, else also attributed; no class is written.
 */
public final class JavaJudge {
    private static final int SHOWN = 5;

    private static final class Unit extends SimpleJavaFileObject {
        private final String text;

        Unit(String text) {
            super(URI.create("string:///Main.java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }

        // Public classes of any name, modules and packages are judged, too.
        @Override
        public boolean isNameCompatible(String simpleName, Kind kind) {
            return true;
        }
    }

    private static String rejection(JavaCompiler compiler, JavaFileManager files, String text, boolean onlySyntax)
            throws IOException {
        DiagnosticCollector<JavaFileObject> said = new DiagnosticCollector<>();
        List<String> options = List.of("-proc:none", "-Xlint:none");
        JavacTask task = (JavacTask) compiler.getTask(null, files, said, options, null, List.of(new Unit(text)));
        try {
            task.parse();
            if (!onlySyntax) {
                task.analyze();
            }
        } catch (RuntimeException | StackOverflowError failure) {
            return "the compiler fails: " + failure;
        }
        for (Diagnostic<? extends JavaFileObject> one : said.getDiagnostics()) {
            if (one.getKind() == Diagnostic.Kind.ERROR) {
                return one.getLineNumber() + ": " + one.getMessage(Locale.ENGLISH);
            }
        }
        return null;
    }

    public static void main(String[] arguments) throws IOException {
        boolean onlySyntax = List.of(arguments).contains("--syntax");
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        JavaFileManager files = compiler.getStandardFileManager(null, Locale.ENGLISH, StandardCharsets.UTF_8);
        byte[] input = System.in.readAllBytes();
        int count = 0;
        List<String> reasons = new ArrayList<>();
        for (int start = 0, end = 0; end <= input.length; end++) {
            if (end == input.length ? start == end : input[end] != 0) {
                continue;
            }
            String text = new String(input, start, end - start, StandardCharsets.UTF_8);
            String reason = rejection(compiler, files, text, onlySyntax);
            if (reason != null) {
                reasons.add("--- document " + count + ", " + (end - start) + " bytes: " + reason + "\n"
                        + text.substring(0, Math.min(text.length(), 600)));
            }
            count++;
            start = end + 1;
        }
        System.out.println("accepted " + (count - reasons.size()) + " of " + count);
        reasons.stream().limit(SHOWN).forEach(System.out::println);
        System.exit(count > 0 && reasons.isEmpty() ? 0 : 1);
    }
}
