import type { StoredLine } from '@roost/contracts/link/transcript'
import type { ToolCall } from '@roost/contracts/runs/executions'
import { sql } from 'kysely'
import type { Executor } from '../../ports/database/port.ts'
import type { NumberedLine } from './rules.ts'
import { maxToolsPerLine, type ToolEnd, type ToolStart, toolsIn } from './tool-rules.ts'

type ExecutionLinesTable = {
  execution_id: string
  /** Starts at 1, without gaps. */
  n: number
  /** The line as JSON, with `_n` and `_ts`. */
  line: string
}

export type ExecutionToolsTable = {
  execution_id: string
  tool_use_id: string
  agent_id: string
  /** Number of the line that called the tool. */
  n: number
  tool: string
  input_summary: string
  output_summary: string | null
  success: number | null
  started_at: string
  ended_at: string | null
  duration_ms: number | null
}

export type TranscriptTables = {
  execution_lines: ExecutionLinesTable
  execution_tools: ExecutionToolsTable
}

/** Rows per statement, far below the parameter limits of both dialects. */
const rowsPerInsert = 1000
/** Limits of one page: a slow reader holds one page in memory, and a line may have 1 MiB. */
const pageLines = 200
const pageBytes = 1024 * 1024

/** Recorded tool calls of a run. Agents write the lines, so their number needs a limit. */
const maxTools = 10_000
/** This many lines cannot exceed the limit, so the calls of a run are counted only after them. */
const uncountedLines = maxTools / maxToolsPerLine
/** A run seldom has more than a few at once. */
const maxOpenTools = 20

export type OpenTool = Pick<ExecutionToolsTable, 'tool_use_id' | 'started_at'>

/** The only SQL about transcript lines and tool calls. */
export function transcriptStore(executor: Executor) {
  const db = executor.withTables<TranscriptTables>()

  async function countTools(executionId: string): Promise<number> {
    const row = await db
      .selectFrom('execution_tools')
      .select((e) => e.fn.countAll<number>().as('total'))
      .where('execution_id', '=', executionId)
      .executeTakeFirstOrThrow()
    return Number(row.total)
  }

  async function addTools(execution: { id: string; agent_id: string }, started: readonly ToolStart[]) {
    const mayBeMany = started.some(({ n }) => n > uncountedLines)
    const room = mayBeMany ? Math.max(0, maxTools - (await countTools(execution.id))) : maxTools
    const rows = started.slice(0, room).map((tool) => ({
      execution_id: execution.id,
      tool_use_id: tool.id,
      agent_id: execution.agent_id,
      n: tool.n,
      tool: tool.tool,
      input_summary: tool.input_summary,
      output_summary: null,
      success: null,
      started_at: tool.at,
      ended_at: null,
      duration_ms: null,
    }))
    for (let start = 0; start < rows.length; start += rowsPerInsert) {
      await db
        .insertInto('execution_tools')
        .values(rows.slice(start, start + rowsPerInsert))
        .onConflict((c) => c.columns(['execution_id', 'tool_use_id']).doNothing())
        .execute()
    }
  }

  async function addResults(executionId: string, ended: readonly ToolEnd[]) {
    for (let start = 0; start < ended.length; start += rowsPerInsert) {
      const results = new Map(ended.slice(start, start + rowsPerInsert).map((result) => [result.id, result]))
      const open = await db
        .selectFrom('execution_tools')
        .selectAll()
        .where('execution_id', '=', executionId)
        .where('tool_use_id', 'in', [...results.keys()])
        .where('ended_at', 'is', null)
        .execute()
      const rows = open.flatMap((row) => {
        const result = results.get(row.tool_use_id)
        return result ? [{ ...row, ...resultOf(result, row.started_at) }] : []
      })
      if (rows.length === 0) continue
      await db
        .insertInto('execution_tools')
        .values(rows)
        .onConflict((c) =>
          c.columns(['execution_id', 'tool_use_id']).doUpdateSet((e) => ({
            output_summary: e.ref('excluded.output_summary'),
            success: e.ref('excluded.success'),
            ended_at: e.ref('excluded.ended_at'),
            duration_ms: e.ref('excluded.duration_ms'),
          })),
        )
        .execute()
    }
  }

  return {
    /** Adds lines whose numbers the caller has claimed in this transaction, and their tool calls. */
    async add(execution: { id: string; agent_id: string }, lines: readonly NumberedLine[]): Promise<void> {
      for (let start = 0; start < lines.length; start += rowsPerInsert) {
        const rows = lines
          .slice(start, start + rowsPerInsert)
          .map(({ n, text }) => ({ execution_id: execution.id, n, line: text }))
        await db.insertInto('execution_lines').values(rows).execute()
      }
      const { started, ended } = toolsIn(lines)
      await addTools(execution, started)
      await addResults(execution.id, ended)
    },

    /** Stores results of tool calls whose own lines are not stored. */
    addResults,

    /** Tool calls without a result; not all of very many. */
    async openTools(executionId: string): Promise<OpenTool[]> {
      return db
        .selectFrom('execution_tools')
        .select(['tool_use_id', 'started_at'])
        .where('execution_id', '=', executionId)
        .where('ended_at', 'is', null)
        .limit(maxOpenTools + 1)
        .execute()
    },

    /**
     * Ends tool calls that were open when their run ended: no result will follow. `open` is what `openTools` returned.
     * Of very many, only the first have a duration.
     */
    async endTools(executionId: string, open: readonly OpenTool[], at: string): Promise<void> {
      for (const tool of open.slice(0, maxOpenTools)) {
        const duration_ms = Math.max(0, Date.parse(at) - Date.parse(tool.started_at))
        await db
          .updateTable('execution_tools')
          .set({ success: 0, ended_at: at, duration_ms })
          .where('execution_id', '=', executionId)
          .where('tool_use_id', '=', tool.tool_use_id)
          .execute()
      }
      if (open.length <= maxOpenTools) return
      await db
        .updateTable('execution_tools')
        .set({ success: 0, ended_at: at })
        .where('execution_id', '=', executionId)
        .where('ended_at', 'is', null)
        .execute()
    },

    /**
     * The next lines after number `after`: at most `pageLines`, and up to the one that reaches `pageBytes`.
     * Empty at the end of the transcript.
     */
    async page(executionId: string, after: number): Promise<{ n: number; text: string }[]> {
      const next = db
        .selectFrom('execution_lines')
        // Both databases know the length of a text without reading it.
        .select(['n', sql<number>`octet_length(line)`.as('bytes')])
        .where('execution_id', '=', executionId)
        .where('n', '>', after)
        .orderBy('n')
        .limit(pageLines)
      const placed = db
        .selectFrom(next.as('next'))
        .select(['n', sql<number>`sum(bytes) over (order by n) - bytes`.as('bytes_before')])
      const last = db
        .selectFrom(placed.as('placed'))
        .select(({ fn }) => fn.max('n').as('n'))
        .where('bytes_before', '<', pageBytes)
      return db
        .selectFrom('execution_lines')
        .select(['n', 'line as text'])
        .where('execution_id', '=', executionId)
        .where('n', '>', after)
        .where('n', '<=', last)
        .orderBy('n')
        .execute()
    },

    /** The whole transcript. */
    async all(executionId: string): Promise<StoredLine[]> {
      const rows = await db
        .selectFrom('execution_lines')
        .select('line')
        .where('execution_id', '=', executionId)
        .orderBy('n')
        .execute()
      return rows.map((row) => JSON.parse(row.line) as StoredLine)
    },

    /** Number of stored lines of all runs, or of these. */
    async countLines(executionIds?: readonly string[]): Promise<number> {
      const row = await db
        .selectFrom('execution_lines')
        .select((e) => e.fn.countAll<number>().as('total'))
        .$if(executionIds !== undefined, (q) => q.where('execution_id', 'in', [...(executionIds ?? [])]))
        .executeTakeFirstOrThrow()
      return Number(row.total)
    },

    /**
     * Removes the first lines of these runs: at most `maxLines`, and up to the one that reaches `maxBytes`. `emptied`
     * are runs whose lines are all removed. Needs a transaction; nobody adds lines to these runs.
     */
    async removeLines(
      executionIds: readonly string[],
      { maxLines, maxBytes }: { maxLines: number; maxBytes: number },
    ): Promise<{ removed: number; emptied: readonly string[] }> {
      const found = await db
        .selectFrom('execution_lines')
        .select(['execution_id', 'n', sql<number>`octet_length(line)`.as('bytes')])
        .where('execution_id', 'in', [...executionIds])
        .orderBy('execution_id')
        .orderBy('n')
        .limit(maxLines + 1)
        .execute()
      const lines = found.slice(0, countWithin(found, { maxRows: maxLines, maxBytes }))
      const next = found[lines.length]
      const begun = [...new Set(lines.map(({ execution_id }) => execution_id))]
      const emptied = next ? begun.filter((id) => id !== next.execution_id) : executionIds
      await this.remove(emptied)
      const last = lines.at(-1)
      if (last && last.execution_id === next?.execution_id) {
        await db
          .deleteFrom('execution_lines')
          .where('execution_id', '=', last.execution_id)
          .where('n', '<=', last.n)
          .execute()
      }
      return { removed: lines.length, emptied }
    },

    /** Removes everything about these runs. */
    async remove(executionIds: readonly string[]): Promise<void> {
      if (executionIds.length === 0) return
      await db
        .deleteFrom('execution_lines')
        .where('execution_id', 'in', [...executionIds])
        .execute()
      await db
        .deleteFrom('execution_tools')
        .where('execution_id', 'in', [...executionIds])
        .execute()
    },

    countTools,

    async toolCalls(executionId: string): Promise<ToolCall[]> {
      const rows = await db
        .selectFrom('execution_tools')
        .selectAll()
        .where('execution_id', '=', executionId)
        .orderBy('n')
        .orderBy('started_at')
        .execute()
      return rows.map((row) => ({
        id: row.tool_use_id,
        tool: row.tool,
        input_summary: row.input_summary,
        success: row.success === null ? null : row.success === 1,
        duration_ms: row.duration_ms,
        started_at: row.started_at,
      }))
    },

    /** The newest tool calls of an agent over all its runs. */
    async recentTools(agentId: string, limit: number): Promise<ExecutionToolsTable[]> {
      return db
        .selectFrom('execution_tools')
        .selectAll()
        .where('agent_id', '=', agentId)
        .orderBy('started_at', 'desc')
        .orderBy('n', 'desc')
        .limit(limit)
        .execute()
    },
  }
}

function resultOf({ output_summary, success, at }: ToolEnd, startedAt: string) {
  const duration_ms = Math.max(0, Date.parse(at) - Date.parse(startedAt))
  return { output_summary, success: success ? 1 : 0, ended_at: at, duration_ms }
}

/** How many of the first rows stay within both limits; at least one, if there is one. */
export function countWithin(
  rows: readonly { bytes: number }[],
  { maxRows, maxBytes }: { maxRows: number; maxBytes: number },
): number {
  let total = 0
  const end = rows.findIndex(({ bytes }) => {
    total += bytes
    return total > maxBytes
  })
  return Math.min(maxRows, end === -1 ? rows.length : Math.max(1, end))
}

export type TranscriptStore = ReturnType<typeof transcriptStore>
