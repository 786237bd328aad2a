// Answers requests with the compiled crate. The page ends this worker if it takes too long, and begins another one.
"use strict";

let wasm = null;

// Returns the message of a call that did not return: of a panic, or of the machine.
function failure(error) {
  const { memory, gramjet_failure, gramjet_failure_at } = wasm.exports;
  try {
    const length = gramjet_failure();
    const panic = new TextDecoder().decode(new Uint8Array(memory.buffer, gramjet_failure_at(), length));
    if (panic) return `The playground failed: ${panic}. Please report this grammar.`;
  } catch {
    // The machine's own message is read below.
  }
  // The stack is full: that of the machine, or the crate's own, which lies at the beginning of the memory.
  const isDeep = error instanceof RangeError || /out of bounds/.test(error.message);
  if (isDeep) return "Stopped: the grammar or the text is nested too deeply.";
  return `Stopped: this takes more than 512 MiB of memory (${error.message}).`;
}

function answer(request) {
  const { memory, gramjet_request, gramjet_answer, gramjet_answer_at } = wasm.exports;
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const place = gramjet_request(bytes.length);
  new Uint8Array(memory.buffer, place, bytes.length).set(bytes);
  const length = gramjet_answer();
  return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, gramjet_answer_at(), length)));
}

onmessage = ({ data: { module, id, request } }) => {
  if (module) {
    try {
      wasm = new WebAssembly.Instance(module, {});
    } catch (error) {
      postMessage({ failed: error.message });
    }
  } else if (wasm) {
    try {
      postMessage({ id, answer: answer(request) });
    } catch (error) {
      postMessage({ id, answer: { error: failure(error) }, isBroken: true });
    }
  }
};
