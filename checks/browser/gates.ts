/** Work of a real agent that ends on request of the test. */
import assert from 'node:assert/strict'
import type { Platform } from '../acceptance/platform.ts'

export type Gate = {
  /** The directive that makes a turn wait: one `Bash` call that ends when the gate opens. */
  directive: string
  open(): Promise<void>
}

/** A gate in an agent's workspace. Each name can be used once per agent. */
export function gateOf(platform: Platform, agent: string, name: string): Gate {
  const command = `until test -e ${name}.gate; do sleep 0.2; done`
  return {
    // The longest timeout of a command that the runtime allows, in ms.
    directive: `[[tool:Bash:${JSON.stringify({ command, timeout: 600_000 })}]]`,
    async open() {
      const path = `/api/agents/${agent}/files?path=${name}.gate`
      const reply = await platform.request('PUT', path, { content: 'open' })
      assert.equal(reply.status, 200, reply.text)
    },
  }
}
