import { runTask } from '@roost/contracts/runs/tasks'
import { clientCommand } from './client/client-command.ts'
import { readInput } from './client/hidden-input.ts'
import { endingOnInterrupt, followRun } from './client/run-stream.ts'

export const task = clientCommand('task', {
  takes: 'AGENT [MESSAGE…]',
  summary: 'Give an agent a task of its own, without memory of others, and wait for its end.',
  options: {
    async: { type: 'boolean' },
    timeout: { type: 'string' },
    model: { type: 'string' },
    tools: { type: 'string' },
    'idempotency-key': { type: 'string' },
  },
  optionLines: [
    'Without a message: what is piped in.',
    '',
    '--async                answer at once with the id of the run',
    '--timeout SECONDS      10 to 7200; the agent’s own when left out',
    '--model NAME           for this task only',
    '--tools A,B            only these tools of the coding CLI',
    '--idempotency-key KEY  the same key again gives the first answer and does nothing twice',
  ],
  async run(asked) {
    const { api, positionals, text, integer, flag, print } = asked
    const [name = '', ...words] = positionals
    const message = words.length > 0 ? words.join(' ') : await readInput()
    const key = text('idempotency-key')
    const accepted = await api.call(runTask, {
      params: { name },
      body: {
        message,
        async_mode: true,
        timeout_seconds: integer('timeout'),
        model: text('model'),
        allowed_tools: text('tools')
          ?.split(',')
          .map((tool) => tool.trim()),
      },
      headers: key === undefined ? {} : { 'idempotency-key': key },
    })
    const id = 'execution_id' in accepted ? accepted.execution_id : ''
    if (flag('async')) {
      print(accepted, () => id)
      return 0
    }
    return endingOnInterrupt(
      asked,
      () => ({ name, id }),
      () => followRun(asked, { name, id }),
    )
  },
})
