// Steps with names: each passes or fails by itself, and at the end it is said how many did.
export class Steps {
  passed = 0;
  failed = 0;

  async step(name, what) {
    try {
      const more = await what();
      this.passed++;
      console.log(`ok   ${name}${typeof more === 'string' ? ` (${more})` : ''}`);
      return true;
    } catch (error) {
      this.failed++;
      console.log(`FAIL ${name}: ${error.message.split('\n').slice(0, 6).join('\n     ')}`);
      return false;
    }
  }

  end() {
    console.log(`${this.passed} passed, ${this.failed} failed`);
    return this.failed ? 1 : 0;
  }
}

export function must(condition, message) {
  if (!condition) throw new Error(message);
}

// Waits until `what` gives something; its last answer is told when it never does.
export async function until(what, message, seconds = 20) {
  const end = Date.now() + seconds * 1000;
  let last;
  for (;;) {
    last = await what();
    if (last) return last;
    if (Date.now() > end) throw new Error(`${message} (waited ${seconds}s)`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
