import { runtimes } from '@roost/contracts/agents/agent'
import { parseModelOverride } from '@roost/contracts/kit/model'
import {
  type Attempt,
  type AttemptSet,
  type AttemptsBody,
  type AttemptVariant,
  cancelAttempts,
  deleteAttempts,
  discardAttempts,
  getAttempts,
  keepAttempt,
  listAttempts,
  maxAttempts,
  startAttempts,
} from '@roost/contracts/runs/attempts'
import { type CommandContext, commandGroup } from './client/client-command.ts'
import { CommandFailed } from './client/exit.ts'
import { facts, money, plainText, seconds, table, time } from './client/output.ts'
import { UsageError } from './command.ts'
import { consents, needsYes } from './terminal/ask.ts'

/** Options of `roost task` that make several attempts of it. */
export const attemptOptions = {
  attempts: { type: 'string' },
  also: { type: 'string', multiple: true },
  repeats: { type: 'string' },
  check: { type: 'string' },
  'check-timeout': { type: 'string' },
  'max-cost': { type: 'string' },
  pick: { type: 'string' },
} as const
export const attemptOptionLines = [
  '--attempts A,B         try it on forks of the agent, at most 10: a number, or RUNTIME, MODEL, RUNTIME:MODEL',
  '--also MESSAGE         another wording of the task to compare; repeatable',
  '--repeats N            repeat each of them',
  '--check COMMAND        run it in each attempt after its run; exit code 0 means passed',
  '--check-timeout SECONDS  1 to 3600 (default 600)',
  '--max-cost USD         cap for all attempts together (default 10)',
  '--pick best-check      keep the cheapest attempt whose check passed',
]

const lookMs = 1000
const busyWords = ['refuse', 'wait', 'stop'] as const

export const attempts = commandGroup(
  'attempts',
  'Attempts at one task, side by side: list, show, keep, cancel, discard, delete. Start them with roost task.',
  {
    list: {
      parameters: 'AGENT',
      summary: 'List the sets of attempts of an agent.',
      async run({ api, positionals: [name = ''], print }) {
        const found = await api.call(listAttempts, { params: { name }, query: { limit: '50' } })
        print(found, () =>
          table(
            ['id', 'status', 'attempts', 'passed', 'cost', 'created', 'task'],
            found.sets.map((set) => [
              set.id,
              set.kept === null ? set.status : `kept ${set.kept}`,
              `${set.ended}/${set.total}`,
              String(set.passed),
              money(set.cost, false),
              time(set.created_at),
              plainText(set.task).slice(0, 60),
            ]),
          ),
        )
      },
    },
    show: {
      parameters: 'AGENT SET',
      summary: 'Compare the attempts of a set.',
      async run({ api, positionals: [name = '', set = ''], print }) {
        const found = await api.call(getAttempts, { params: { name, set } })
        print(found, () => setText(found))
      },
    },
    keep: {
      parameters: 'AGENT SET NUMBER',
      summary: "Make the changes of an attempt the agent's workspace. All attempts are removed then.",
      waiting: 'Keeping the attempt',
      options: {
        overwrite: { type: 'boolean' },
        'when-busy': { type: 'string' },
        yes: { type: 'boolean', short: 'y' },
      },
      optionLines: [
        '--overwrite      also files that changed in the agent since the attempts began',
        '--when-busy HOW  while runs work: refuse (default), wait for them, or stop them',
        '--yes            skip the confirmation; required without a terminal',
      ],
      async run(context) {
        const { api, positionals, flag, text, spinner } = context
        const [name = '', set = '', number = ''] = positionals
        const given = text('when-busy') ?? 'refuse'
        const when_busy = busyWords.find((word) => word === given)
        if (!when_busy) throw new UsageError('--when-busy must be refuse, wait or stop.')
        needsYes(flag('yes'))
        spinner.hide()
        if (!(await consents(`Keep attempt ${number} and remove the others?`, flag('yes')))) return 1
        const on_conflict = flag('overwrite') ? ('overwrite' as const) : ('refuse' as const)
        const body = { attempt: Number(number), on_conflict, when_busy }
        await api.call(keepAttempt, { params: { name, set }, body })
        return followSet(context, { name, set }, { mustKeep: true })
      },
    },
    cancel: {
      parameters: 'AGENT SET',
      summary: 'Stop the attempts that still work; the others remain.',
      async run({ api, positionals: [name = '', set = ''], print }) {
        const found = await api.call(cancelAttempts, { params: { name, set } })
        print(found, () => found.status)
      },
    },
    discard: {
      parameters: 'AGENT SET',
      summary: 'Discard all attempts of a set.',
      options: { yes: { type: 'boolean', short: 'y' } },
      optionLines: ['--yes  skip the confirmation; required without a terminal'],
      async run({ api, positionals: [name = '', set = ''], flag, print, spinner }) {
        needsYes(flag('yes'))
        spinner.hide()
        if (!(await consents('Discard all attempts of this set?', flag('yes')))) return 1
        const found = await api.call(discardAttempts, { params: { name, set } })
        print(found, () => found.status)
        return 0
      },
    },
    delete: {
      parameters: 'AGENT SET',
      summary: 'Delete a set that has ended. The runs of its attempts remain.',
      async run({ api, positionals: [name = '', set = ''], print }) {
        const reply = await api.call(deleteAttempts, { params: { name, set } })
        print(reply, () => reply.message)
      },
    },
  },
)

/** Starts a set and waits for its end, and for the choice of `--pick`. */
export async function tryTask(context: CommandContext, name: string, message: string): Promise<number> {
  const { api, text, integer, flag, values, print, isJson } = context
  const pick = text('pick')
  if (pick !== undefined && pick !== 'best-check') throw new UsageError('--pick must be best-check.')
  const { variants, repeats } = readAttempts(text('attempts') ?? '1')
  if (text('model') !== undefined) throw new UsageError('Use --attempts RUNTIME:MODEL instead of --model.')
  if (text('idempotency-key') !== undefined)
    throw new UsageError('--idempotency-key cannot be used with --attempts.')
  if (repeats > 1 && integer('repeats') !== undefined)
    throw new UsageError('--repeats needs variants in --attempts, not a number.')
  const command = text('check')
  const maxCost = text('max-cost')
  const checkSeconds = integer('check-timeout')
  const body = {
    messages: [message, ...[values.also ?? []].flat().map(String)],
    variants,
    repeats: repeats > 1 ? repeats : (integer('repeats') ?? 1),
    ...(maxCost === undefined ? {} : { max_cost_usd: Number(maxCost) }),
    ...(command === undefined ? {} : { check: command }),
    ...(checkSeconds === undefined ? {} : { check_timeout_seconds: checkSeconds }),
    pick: pick === undefined ? ('manual' as const) : ('best_check' as const),
    timeout_seconds: integer('timeout'),
    allowed_tools: text('tools')
      ?.split(',')
      .map((tool) => tool.trim()),
  }
  const started = await api.call(startAttempts, { params: { name }, body })
  if (flag('async')) {
    print(started, () => started.id)
    return 0
  }
  if (!isJson) console.error(`${started.total} attempts started. roost attempts show ${name} ${started.id}`)
  return followSet(context, { name, set: started.id }, { mustKeep: pick !== undefined })
}

/** `3`, `claude-code,codex`, `sonnet,opus`, `codex:gpt-5`. */
export function readAttempts(text: string): Pick<AttemptsBody, 'repeats'> & { variants: AttemptVariant[] } {
  if (/^\d+$/.test(text)) {
    const repeats = Number(text)
    if (repeats < 1 || repeats > maxAttempts)
      throw new UsageError(`--attempts must be a number from 1 to ${maxAttempts}, or variants.`)
    return { variants: [{}], repeats }
  }
  const variants = text.split(',').map((item) => variantOf(item.trim()))
  return { variants, repeats: 1 }
}

function variantOf(item: string): AttemptVariant {
  const [first = '', ...rest] = item.split(':')
  const runtime = runtimes.find((each) => each === first)
  const model = runtime ? rest.join(':') : item
  if (runtime && rest.length === 0) return { runtime }
  if (model === '' || !parseModelOverride(model))
    throw new UsageError(
      `--attempts: ${JSON.stringify(item)} is neither a runtime (${runtimes.join(', ')}) nor a model.`,
    )
  return runtime ? { runtime, model } : { model }
}

async function followSet(
  { api, print }: CommandContext,
  params: { name: string; set: string },
  { mustKeep }: { mustKeep: boolean },
): Promise<number> {
  let found = await api.call(getAttempts, { params })
  while (!isSettled(found, mustKeep)) {
    await new Promise((done) => setTimeout(done, lookMs))
    found = await api.call(getAttempts, { params })
  }
  print(found, () => setText(found))
  if (found.status === 'failed') throw new CommandFailed(plainText(found.message ?? 'The attempts failed.'))
  if (mustKeep && found.status !== 'kept') throw new CommandFailed(keepFailure(found))
  if (!found.attempts.some(({ status }) => status === 'done'))
    throw new CommandFailed('No attempt succeeded.')
  return 0
}

function isSettled({ status, ended_at, message, keep }: AttemptSet, mustKeep: boolean): boolean {
  if (ended_at !== null) return true
  if (status !== 'done') return false
  // The platform picks one right after the last attempt.
  return !mustKeep || message !== null || keep !== null
}

function keepFailure({ message, keep }: AttemptSet): string {
  const conflicts = keep?.conflicts.map(({ path }) => `changed meanwhile: ${plainText(path)}`) ?? []
  return [plainText(keep?.message ?? message ?? 'No attempt was kept.'), ...conflicts].join('\n')
}

function setText(set: AttemptSet): string {
  return [
    facts({
      set: set.id,
      agent: set.agent_name,
      status: set.kept === null ? set.status : `attempt ${set.kept} was kept`,
      cost: `${money(set.cost, false)} of ${money(set.max_cost_usd, false)}`,
      check: set.check?.command ?? null,
      note: set.message,
    }),
    '',
    table(
      ['number', 'runtime', 'model', 'status', 'check', 'cost', 'took', 'steps', 'changes'],
      set.attempts.map((attempt) => [
        String(attempt.number),
        attempt.runtime,
        attempt.model ?? '',
        attempt.status,
        checkText(attempt),
        money(attempt.cost, attempt.cost_estimated),
        seconds(attempt.duration_ms),
        attempt.steps === null ? '' : String(attempt.steps),
        changesText(attempt),
      ]),
    ),
    ...set.attempts.flatMap(({ number, error }) => (error ? [`${number}: ${plainText(error)}`] : [])),
    ...(set.keep?.conflicts ?? []).map(({ path, reason }) => `${reason}: ${plainText(path)}`),
    ...(set.keep?.undo_record && set.status === 'kept'
      ? [`Undo it: roost history restore ${set.agent_name} ${set.keep.undo_record}`]
      : []),
  ].join('\n')
}

function checkText({ check }: Attempt): string {
  if (check === null) return ''
  if (check.timed_out) return 'timed out'
  return check.exit_code === 0 ? 'passed' : `exit code ${check.exit_code ?? 'none'}`
}

function changesText({ changes }: Attempt): string {
  if (changes === null) return ''
  const named = Object.entries(changes).filter(([, count]) => count > 0)
  return named.length === 0 ? 'none' : named.map(([name, count]) => `${count} ${name}`).join(', ')
}
