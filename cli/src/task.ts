import { runTask } from '@roost/contracts/runs/tasks'
import { attemptOptionLines, attemptOptions, tryTask } from './attempts.ts'
import { clientCommand } from './client/client-command.ts'
import { readInput } from './client/hidden-input.ts'
import { followRun, stopRunOnInterrupt } from './client/run-stream.ts'
import { UsageError } from './command.ts'

export const task = clientCommand('task', {
  parameters: 'AGENT [MESSAGE…]',
  summary: 'Give an agent a task and wait for the result. A task has no memory of other tasks.',
  options: {
    async: { type: 'boolean' },
    timeout: { type: 'string' },
    model: { type: 'string' },
    tools: { type: 'string' },
    'idempotency-key': { type: 'string' },
    ...attemptOptions,
  },
  optionLines: [
    'Without MESSAGE: reads piped input.',
    '',
    '--async                print the execution id and return immediately',
    '--timeout SECONDS      10 to 7200 (default: the agent’s setting)',
    '--model NAME           model for this task only',
    '--tools A,B            allow only these tools of the coding CLI',
    '--idempotency-key KEY  a repeated key returns the first task and starts no second one',
    '',
    'Several attempts, each on a fork of the agent:',
    ...attemptOptionLines,
  ],
  async run(context) {
    const { api, positionals, text, integer, flag, print } = context
    const [name = '', ...words] = positionals
    const message = words.length > 0 ? words.join(' ') : await readInput()
    if (text('attempts') !== undefined) return tryTask(context, name, message)
    const unused = Object.keys(attemptOptions).find((option) => context.values[option] !== undefined)
    if (unused) throw new UsageError(`--${unused} needs --attempts.`)
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
    return stopRunOnInterrupt(
      context,
      () => ({ name, id }),
      () => followRun(context, { name, id }),
    )
  },
})
