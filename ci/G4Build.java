// Makes Java parsers of ANTLR 4 grammars: runs the ANTLR tool and the Java compiler, both within this process, so that
// only the first grammar pays for their start.
//
// Usage: java -cp ANTLR.jar:CLASSES G4Build <REQUESTS
//
// Each line of the input is a request of fields between tabs: a folder for the result, the folder of the grammar's
// imports, the folder of its own base classes (which need not exist), and its files. The sources go to `java` in the
// result's folder, the classes to `classes`. A line of answer follows each request: empty, or why there are no classes.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.ToolProvider;
import org.antlr.v4.Tool;
import org.antlr.v4.tool.ANTLRMessage;
import org.antlr.v4.tool.ANTLRToolListener;

public class G4Build {
    /** The first error of the tool; the warnings do not count. */
    static class FirstError implements ANTLRToolListener {
        final Tool tool;
        String message = null;

        FirstError(Tool tool) {
            this.tool = tool;
        }

        @Override
        public void info(String message) {}

        @Override
        public void error(ANTLRMessage error) {
            if (message == null) message = tool.errMgr.getMessageTemplate(error).render();
        }

        @Override
        public void warning(ANTLRMessage warning) {}
    }

    /** The files of a folder with the end of a Java source; none if there is no such folder. */
    static List<Path> sources(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) return List.of();
        try (var entries = Files.list(folder)) {
            return entries.filter(file -> file.toString().endsWith(".java")).sorted().collect(Collectors.toList());
        }
    }

    /** Runs the ANTLR tool; the answer is the first error, or null. */
    static String generate(Path out, String imports, List<String> files) {
        var arguments = new ArrayList<>(
                List.of("-Dlanguage=Java", "-encoding", "UTF-8", "-Xexact-output-dir", "-o", out.toString(), "-lib", imports));
        arguments.addAll(files);
        var tool = new Tool(arguments.toArray(new String[0]));
        var errors = new FirstError(tool);
        tool.removeListeners();
        tool.addListener(errors);
        tool.processGrammarsOnCommandLine();
        return errors.message;
    }

    /** Compiles the sources; the answer is the first error, or null. */
    static String compile(List<Path> sources, Path classes) throws IOException {
        var compiler = ToolProvider.getSystemJavaCompiler();
        var diagnostics = new DiagnosticCollector<JavaFileObject>();
        var options = List.of("-nowarn", "-proc:none", "-g:none", "-encoding", "UTF-8", "-d", classes.toString(), "-cp", System.getProperty("java.class.path"));
        try (var manager = compiler.getStandardFileManager(diagnostics, null, StandardCharsets.UTF_8)) {
            var units = manager.getJavaFileObjectsFromPaths(sources);
            if (compiler.getTask(null, manager, diagnostics, options, null, units).call()) return null;
        }
        return diagnostics.getDiagnostics().stream()
                .filter(found -> found.getKind() == Diagnostic.Kind.ERROR)
                .map(G4Build::described)
                .findFirst()
                .orElse("an unknown error");
    }

    static String described(Diagnostic<? extends JavaFileObject> found) {
        var file = found.getSource() == null ? "" : Path.of(found.getSource().getName()).getFileName() + ":" + found.getLineNumber() + ": ";
        return file + found.getMessage(null);
    }

    static String answer(String[] fields) {
        try {
            var out = Path.of(fields[0]);
            var java = Files.createDirectories(out.resolve("java"));
            var classes = Files.createDirectories(out.resolve("classes"));
            var problem = generate(java, fields[1], List.of(fields).subList(3, fields.length));
            if (problem != null) return "the tool: " + problem;
            var sources = new ArrayList<>(sources(java));
            sources.addAll(sources(Path.of(fields[2])));
            problem = compile(sources, classes);
            return problem == null ? "" : "the Java compiler: " + problem;
        } catch (IOException | RuntimeException | StackOverflowError failed) {
            return "" + failed;
        }
    }

    public static void main(String[] arguments) throws IOException {
        var requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        // What the tool says goes elsewhere.
        var answers = System.out;
        System.setOut(System.err);
        for (String line; (line = requests.readLine()) != null; ) {
            answers.println(answer(line.split("\t")).lines().map(String::strip).collect(Collectors.joining(" ")));
            answers.flush();
        }
    }
}
