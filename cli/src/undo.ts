import {
  getRestore,
  previewRestore,
  type Restore,
  type RestorePreview,
  type RestoreTarget,
  startRestore,
} from '@roost/contracts/agents/workspace-restore'
import { type CommandContext, clientCommand } from './client/client-command.ts'
import { CommandFailed } from './client/exit.ts'
import { facts, plainText, table } from './client/output.ts'
import { UsageError } from './command.ts'
import { findRun } from './runs.ts'
import { consents, needsYes } from './terminal/ask.ts'

export const restoreOptions = {
  'dry-run': { type: 'boolean' },
  'when-busy': { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
} as const
export const restoreOptionLines = [
  '--dry-run        only show what would change',
  '--when-busy HOW  while runs work: refuse (default), wait for them, or stop them',
  '                 `roost history cancel AGENT` cancels a restore that waits',
  '--yes            skip the confirmation; required without a terminal',
]

export const undo = clientCommand('undo', {
  parameters: 'RUN [PATH]',
  summary: 'Undo what a run did to the workspace, a folder or a file.',
  waiting: 'Restoring the workspace',
  options: { after: { type: 'boolean' }, ...restoreOptions },
  optionLines: [
    'RUN: the id of a run, or its first characters if no other run has them.',
    'Later changes of the same files are undone too. The restore can be undone itself.',
    '--after          restore to the end of the run instead of its beginning',
    ...restoreOptionLines,
  ],
  async run(context) {
    const [id = '', path] = context.positionals
    const { name, id: run } = await findRun(context.api, id)
    return restoreWorkspace(context, name, { run, side: context.flag('after') ? 'after' : 'before', path })
  },
})

const lookMs = 1000
const maxShownChanges = 50
const whenBusyWords = ['refuse', 'wait', 'stop'] as const

/** Shows what a restore would change, asks, and waits for its end. */
export async function restoreWorkspace(
  context: CommandContext,
  name: string,
  target: Partial<RestoreTarget>,
): Promise<number> {
  const { api, flag, print, isJson, spinner } = context
  const given = context.text('when-busy') ?? 'refuse'
  const when_busy = whenBusyWords.find((word) => word === given)
  if (!when_busy)
    throw new UsageError(`--when-busy must be refuse, wait or stop, not ${JSON.stringify(given)}.`)
  if (!flag('dry-run')) needsYes(flag('yes'))
  const params = { name }
  const preview = await api.call(previewRestore, { params, body: target })
  if (flag('dry-run')) {
    print(preview, () => previewText(preview))
    return 0
  }
  spinner.hide()
  if (!isJson) console.log(previewText(preview))
  if (preview.total > 0) {
    const what = preview.total === 1 ? '1 path' : `${preview.total} paths`
    if (!(await consents(`Restore ${what} of ${name} to record ${preview.record.number}?`, flag('yes'))))
      return 1
  }
  let restore = await api.call(startRestore, { params, body: { ...target, when_busy } })
  while (restore.ended_at === null) {
    await new Promise((done) => setTimeout(done, lookMs))
    restore = await api.call(getRestore, { params: { name, restore: restore.id } })
  }
  if (restore.state === 'failed') throw new CommandFailed(failureText(restore))
  print(restore, () => endText(name, restore))
  return 0
}

function previewText({ changes, total, ...summary }: RestorePreview): string {
  if (total === 0) return ['Nothing differs from the record.', ...conflictLines(summary)].join('\n')
  const shown = changes.slice(0, maxShownChanges)
  return [
    table(
      ['change', 'kind', 'path'],
      shown.map(({ change, kind, path }) => [change, kind, path]),
    ),
    ...(total > shown.length ? [`${total - shown.length} more changes.`] : []),
    ...conflictLines(summary),
  ].join('\n')
}

function conflictLines({
  conflicts,
  conflict_count,
}: Pick<RestorePreview, 'conflicts' | 'conflict_count'>): string[] {
  return [
    ...conflicts.map(({ path, reason }) => `stays as it is: ${plainText(path)} (${reason})`),
    ...(conflict_count > conflicts.length
      ? [`${conflict_count - conflicts.length} more paths stay as they are.`]
      : []),
  ]
}

function failureText({ reason, message }: Restore): string {
  return `The workspace was not restored: ${plainText(message ?? reason ?? 'unknown')}`
}

function endText(name: string, restore: Restore): string {
  const { state, added, changed, attributes, deleted, undo_record, message } = restore
  const counts = Object.entries({ added, changed, attributes, deleted }).filter(([, count]) => count > 0)
  return [
    facts({ state, ...Object.fromEntries(counts), note: message }),
    ...conflictLines(restore),
    ...(undo_record !== null && state === 'restored'
      ? [`Undo this restore: roost history restore ${name} ${undo_record}`]
      : []),
  ].join('\n')
}
