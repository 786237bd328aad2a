package gramjet;

import java.io.ByteArrayOutputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import jdk.internal.org.objectweb.asm.ClassReader;
import jdk.internal.org.objectweb.asm.ClassVisitor;
import jdk.internal.org.objectweb.asm.ClassWriter;
import jdk.internal.org.objectweb.asm.Handle;
import jdk.internal.org.objectweb.asm.Label;
import jdk.internal.org.objectweb.asm.MethodVisitor;
import jdk.internal.org.objectweb.asm.Opcodes;

/**
 * Puts counters into classes as they are loaded: where a method begins, after each conditional jump, and where jumps,
 * switches and exceptions lead to. No new places to jump to arise, so the frames of a class stay as they are.
 * Initialisers of classes are not counted: they run once.
 */
public final class Agent implements ClassFileTransformer {
    private static final int API = newest();

    public static void premain(String arguments, Instrumentation instrumentation) {
        String folder = System.getenv("TMPDIR");
        if (folder != null) {
            System.setProperty("java.io.tmpdir", folder);
        }
        Channel.open();
        instrumentation.addTransformer(new Agent());
    }

    private static int newest() {
        for (int version = 9; ; version--) {
            try {
                return Opcodes.class.getField("ASM" + version).getInt(null);
            } catch (ReflectiveOperationException error) {
                // An older one.
            }
        }
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
        if (loader == null || loader == ClassLoader.getPlatformClassLoader() || name == null
                || name.startsWith("gramjet/") || name.startsWith("jdk/") || name.startsWith("sun/")
                || name.startsWith("com/sun/proxy/")) {
            return null;
        }
        try {
            ClassReader reader = new ClassReader(bytes);
            Map<String, BitSet> targets = new HashMap<>();
            reader.accept(new Finder(targets), 0);
            ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
            ByteArrayOutputStream messages = new ByteArrayOutputStream();
            reader.accept(new Counting(writer, targets, messages), 0);
            byte[] result = writer.toByteArray();
            Channel.send(messages.toByteArray());
            return result;
        } catch (Throwable error) {
            // A class that ASM does not know, or that gets too large, is not counted.
            return null;
        }
    }

    /** Finds the labels that something leads to, by their number in the order in which they are visited. */
    private static final class Finder extends ClassVisitor {
        private final Map<String, BitSet> found;

        Finder(Map<String, BitSet> found) {
            super(API);
            this.found = found;
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
            return new MethodVisitor(API) {
                private final Map<Label, Integer> labels = new HashMap<>();
                private final Set<Label> targets = new HashSet<>();

                @Override
                public void visitLabel(Label label) {
                    labels.put(label, labels.size());
                }

                @Override
                public void visitJumpInsn(int opcode, Label label) {
                    targets.add(label);
                }

                @Override
                public void visitTableSwitchInsn(int min, int max, Label other, Label... cases) {
                    targets.add(other);
                    targets.addAll(List.of(cases));
                }

                @Override
                public void visitLookupSwitchInsn(Label other, int[] keys, Label[] cases) {
                    targets.add(other);
                    targets.addAll(List.of(cases));
                }

                @Override
                public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
                    targets.add(handler);
                }

                @Override
                public void visitEnd() {
                    BitSet numbers = new BitSet();
                    targets.forEach(target -> numbers.set(labels.get(target)));
                    found.put(name + descriptor, numbers);
                }
            };
        }
    }

    /** Copies a class with counters. */
    private static final class Counting extends ClassVisitor {
        private final Map<String, BitSet> targets;
        private final ByteArrayOutputStream messages;
        private String className;
        private String file;

        Counting(ClassVisitor next, Map<String, BitSet> targets, ByteArrayOutputStream messages) {
            super(API, next);
            this.targets = targets;
            this.messages = messages;
        }

        @Override
        public void visit(int version, int access, String name, String signature, String parent, String[] interfaces) {
            className = name;
            file = name + ".class";
            super.visit(version, access, name, signature, parent, interfaces);
        }

        @Override
        public void visitSource(String source, String debug) {
            if (source != null) {
                file = className.substring(0, className.lastIndexOf('/') + 1) + source;
            }
            super.visitSource(source, debug);
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
            MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
            if (name.equals("<clinit>")) {
                return next;
            }
            return new Method(next, this, className.replace('/', '.') + "." + name, descriptor, targets.get(name + descriptor));
        }
    }

    /** Copies a method with counters. */
    private static final class Method extends MethodVisitor {
        private final Counting owner;
        private final String name;
        private final String descriptor;
        private final BitSet targets;
        private int labels;
        private int edges;
        private int line;
        /** Whether a counter is due before the next instruction. */
        private boolean isDue = true;
        /** Labels of the next instruction. */
        private final List<Label> here = new ArrayList<>();
        /**
         * Frames name an object that is not initialised by the label of the instruction that makes it, which may have
         * moved.
         */
        private final Map<Label, Label> moved = new HashMap<>();

        Method(MethodVisitor next, Counting owner, String name, String descriptor, BitSet targets) {
            super(API, next);
            this.owner = owner;
            this.name = name;
            this.descriptor = descriptor;
            this.targets = targets;
        }

        private void instruction() {
            here.clear();
            if (!isDue) {
                return;
            }
            isDue = false;
            int number = Channel.number(owner.file, name, descriptor + edges++, line, owner.messages);
            super.visitLdcInsn(number);
            super.visitMethodInsn(Opcodes.INVOKESTATIC, "gramjet/Channel", "hit", "(I)V", false);
        }

        @Override
        public void visitLabel(Label label) {
            super.visitLabel(label);
            here.add(label);
            isDue |= targets.get(labels++);
        }

        @Override
        public void visitLineNumber(int number, Label start) {
            line = number;
            super.visitLineNumber(number, start);
        }

        @Override
        public void visitFrame(int type, int localCount, Object[] local, int stackCount, Object[] stack) {
            super.visitFrame(type, localCount, renamed(local), stackCount, renamed(stack));
        }

        private Object[] renamed(Object[] types) {
            if (types == null || moved.isEmpty()) {
                return types;
            }
            Object[] result = types.clone();
            for (int i = 0; i < result.length; i++) {
                if (result[i] instanceof Label) {
                    result[i] = moved.getOrDefault(result[i], (Label) result[i]);
                }
            }
            return result;
        }

        @Override
        public void visitJumpInsn(int opcode, Label label) {
            instruction();
            super.visitJumpInsn(opcode, label);
            isDue = opcode != Opcodes.GOTO && opcode != Opcodes.JSR;
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            List<Label> labels = isDue && opcode == Opcodes.NEW ? List.copyOf(here) : List.of();
            instruction();
            if (!labels.isEmpty()) {
                Label fresh = new Label();
                super.visitLabel(fresh);
                labels.forEach(label -> moved.put(label, fresh));
            }
            super.visitTypeInsn(opcode, type);
        }

        /** An exit of the program ends the run alone. */
        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            instruction();
            boolean isStatic = owner.equals("java/lang/System") && name.equals("exit");
            boolean isExit = isStatic || owner.equals("java/lang/Runtime") && (name.equals("exit") || name.equals("halt"));
            if (isExit && descriptor.equals("(I)V")) {
                String exit = isStatic ? "(I)V" : "(Ljava/lang/Runtime;I)V";
                super.visitMethodInsn(Opcodes.INVOKESTATIC, "gramjet/Worker", "exit", exit, false);
            } else {
                super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
            }
        }

        @Override
        public void visitInsn(int opcode) {
            instruction();
            super.visitInsn(opcode);
        }

        @Override
        public void visitIntInsn(int opcode, int operand) {
            instruction();
            super.visitIntInsn(opcode, operand);
        }

        @Override
        public void visitVarInsn(int opcode, int variable) {
            instruction();
            super.visitVarInsn(opcode, variable);
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
            instruction();
            super.visitFieldInsn(opcode, owner, name, descriptor);
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String descriptor, Handle handle, Object... arguments) {
            instruction();
            super.visitInvokeDynamicInsn(name, descriptor, handle, arguments);
        }

        @Override
        public void visitLdcInsn(Object value) {
            instruction();
            super.visitLdcInsn(value);
        }

        @Override
        public void visitIincInsn(int variable, int increment) {
            instruction();
            super.visitIincInsn(variable, increment);
        }

        @Override
        public void visitTableSwitchInsn(int min, int max, Label other, Label... cases) {
            instruction();
            super.visitTableSwitchInsn(min, max, other, cases);
        }

        @Override
        public void visitLookupSwitchInsn(Label other, int[] keys, Label[] cases) {
            instruction();
            super.visitLookupSwitchInsn(other, keys, cases);
        }

        @Override
        public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
            instruction();
            super.visitMultiANewArrayInsn(descriptor, dimensions);
        }
    }
}
