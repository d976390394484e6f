import { type DiffLine, diffLines } from '../../../ui/diff-lines.ts'
import { fieldsOf, stringOrNull } from '../../transcripts/fields.ts'
import type { Step, ToolStep } from '../../transcripts/steps.ts'
import { differenceOf, toolInputOf } from '../../transcripts/tool-input.ts'
import { relativePath } from '../../workspace/paths.ts'

/** `named`: the tool names the file but not the change. */
export type FileChange = {
  key: string
  path: string
  kind: 'edit' | 'write' | 'named'
  lines: readonly DiffLine[]
  executionId: string
  /** When the tool was called, ISO 8601. */
  at: string | null
  /** The stored call was too long and is incomplete. */
  isCut: boolean
}

export type ChangedFile = {
  /** Relative to the workspace, or absolute outside of it. */
  path: string
  /** Oldest first. */
  changes: readonly FileChange[]
  added: number
  removed: number
}

export type RunSteps = { executionId: string; steps: readonly Step[] }

/** The files that the edit and write tools of these runs changed, the latest first. */
export function changedFiles(runs: readonly RunSteps[]): ChangedFile[] {
  const files = new Map<string, FileChange[]>()
  for (const { executionId, steps } of runs) {
    for (const step of steps) {
      if (step.kind !== 'tool' || step.state !== 'done') continue
      for (const change of changesOf(step, executionId)) {
        const before = files.get(change.path) ?? []
        // The last change decides about the order.
        files.delete(change.path)
        files.set(change.path, [...before, change])
      }
    }
  }
  return [...files].map(([path, changes]) => ({ path, changes, ...countsOf(changes) })).toReversed()
}

/** A step never changes, and a run that is followed is read many times. */
const known = new WeakMap<ToolStep, FileChange[]>()

function changesOf(step: ToolStep, executionId: string): FileChange[] {
  const before = known.get(step)
  if (before) return before
  const changes = readChanges(step).map(
    (change, index): FileChange => ({
      ...change,
      path: pathOf(change.path),
      key: `${executionId} ${step.key} ${index}`,
      executionId,
      at: step.at,
      isCut: step.isCut,
    }),
  )
  known.set(step, changes)
  return changes
}

/** Recognized by the fields of the call. A tool of an MCP server with such fields writes elsewhere. */
function readChanges({ name, input }: ToolStep): Pick<FileChange, 'path' | 'kind' | 'lines'>[] {
  if (name.startsWith('mcp__')) return []
  const read = toolInputOf(input)
  if (read.kind === 'edit')
    return read.edits.map((edit) => ({
      path: read.path,
      kind: 'edit',
      lines: diffLines(differenceOf(edit)),
    }))
  if (read.kind === 'write') {
    const lines = diffLines(differenceOf({ before: '', after: read.content.replace(/\n$/, '') }))
    return [{ path: read.path, kind: 'write', lines: read.content === '' ? [] : lines }]
  }
  const { changes, notebook_path, new_source } = fieldsOf(input)
  const paths = Array.isArray(changes)
    ? changes.map((change) => stringOrNull(fieldsOf(change).path))
    : [new_source === undefined ? null : stringOrNull(notebook_path)]
  return paths.flatMap((path) => (path === null ? [] : [{ path, kind: 'named', lines: [] }]))
}

function pathOf(path: string): string {
  return relativePath(path).replace(/^(?:\.\/)+/, '')
}

function countsOf(changes: readonly FileChange[]): { added: number; removed: number } {
  let [added, removed] = [0, 0]
  for (const { lines } of changes)
    for (const { kind } of lines) {
      if (kind === 'added') added += 1
      else if (kind === 'removed') removed += 1
    }
  return { added, removed }
}

/** Whether a run with these tools may have changed files by them. */
export function mayChangeFiles(tools: readonly { tool: string }[] | null): boolean {
  return tools?.some(({ tool }) => /write|edit|replace|patch|insert|create/i.test(tool)) ?? false
}
