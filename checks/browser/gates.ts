/** Work of a real agent that ends when the test says so, however slow the machine is. */
import assert from 'node:assert/strict'
import type { Platform } from '../acceptance/platform.ts'

export type Gate = {
  /** The directive that makes a turn wait: one call of `Bash` that ends once the gate is open. */
  directive: string
  open(): Promise<void>
}

/** A gate in an agent's workspace; its name is used once for each agent. */
export function gateOf(platform: Platform, agent: string, name: string): Gate {
  const command = `until test -e ${name}.gate; do sleep 0.2; done`
  return {
    // The longest that the runtime lets a command take, in ms.
    directive: `[[tool:Bash:${JSON.stringify({ command, timeout: 600_000 })}]]`,
    async open() {
      const path = `/api/agents/${agent}/files?path=${name}.gate`
      const reply = await platform.request('PUT', path, { content: 'open' })
      assert.equal(reply.status, 200, reply.text)
    },
  }
}
