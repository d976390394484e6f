import {
  getRecordFile,
  getRunChanges,
  getRunDiff,
  listHistory,
  listRecordFiles,
} from '@roost/contracts/agents/workspace-history'
import { errorOf } from '@roost/contracts/client'
import { z } from 'zod'
import { asQuery, pathOf, queryOf, request } from '../requests.ts'
import { type Tool, tool } from '../tool.ts'
import { agentName, words } from './parameters.ts'

const bytes = 'A model names paths as text.'
const run = { as: { '{id}': 'execution_id' } }
const record = pathOf(listRecordFiles).record.describe('The id of a record, as list_history returns it.')
const path = z.string().min(1).max(4000).describe('Path relative to the workspace.')
const pathDiffers = { path: 'A model names a path in at most 4,000 characters.' }
const maxFileBytes = 200_000

export const historyTools: Tool[] = [
  tool({
    name: 'list_run_changes',
    description:
      'The files that a run added, changed, renamed or deleted, with their sizes. Runs at the same time share their changes.',
    audience: 'everyone',
    effect: 'read',
    requests: [request(getRunChanges, run)],
    input: {
      execution_id: pathOf(getRunChanges).id.describe('The execution_id that a tool returned.'),
      limit: queryOf(getRunChanges).limit.describe(words.limit),
      offset: queryOf(getRunChanges).offset.describe(words.offset),
    },
    run: ({ api }, { execution_id, ...query }) =>
      api.call(getRunChanges, { params: { id: execution_id }, query: asQuery(query) }),
  }),
  tool({
    name: 'get_run_diff',
    description: 'What a run changed in one file, as a unified diff.',
    audience: 'everyone',
    effect: 'read',
    requests: [
      request(getRunDiff, {
        ...run,
        leftOut: { path_bytes: bytes, from_bytes: bytes },
        differs: { path: 'Required, because the bytes have no parameter.' },
      }),
    ],
    input: {
      execution_id: pathOf(getRunDiff).id.describe('The execution_id that a tool returned.'),
      path,
      from: queryOf(getRunDiff).from,
    },
    run: ({ api }, { execution_id, ...query }) =>
      api.call(getRunDiff, { params: { id: execution_id }, query }),
  }),
  tool({
    name: 'list_history',
    description: "Records of an agent's workspace before and after its runs, newest first.",
    audience: 'everyone',
    effect: 'read',
    requests: [request(listHistory)],
    input: {
      agent_name: agentName,
      before: queryOf(listHistory).before,
      limit: queryOf(listHistory).limit.describe(words.limit),
    },
    run: ({ api }, { agent_name, ...query }) =>
      api.call(listHistory, { params: { name: agent_name }, query: asQuery(query) }),
  }),
  tool({
    name: 'list_files_at_record',
    description: "A folder of an agent's workspace as it was at a record.",
    audience: 'everyone',
    effect: 'read',
    requests: [request(listRecordFiles, { as: { '{record}': 'record_id' }, leftOut: { path_bytes: bytes } })],
    input: {
      agent_name: agentName,
      record_id: record,
      path: queryOf(listRecordFiles).path.describe('Folder relative to the workspace. Default: all of it.'),
      limit: queryOf(listRecordFiles).limit.describe(words.limit),
      offset: queryOf(listRecordFiles).offset.describe(words.offset),
    },
    run: ({ api }, { agent_name, record_id, ...query }) =>
      api.call(listRecordFiles, { params: { name: agent_name, record: record_id }, query: asQuery(query) }),
  }),
  tool({
    name: 'get_file_at_record',
    description: "The text of a file of an agent's workspace as it was at a record, at most 200,000 bytes.",
    audience: 'everyone',
    effect: 'read',
    requests: [
      request(getRecordFile, {
        as: { '{record}': 'record_id' },
        leftOut: { path_bytes: bytes, inline: 'Changes only headers.' },
        differs: { path: pathDiffers.path },
      }),
    ],
    input: { agent_name: agentName, record_id: record, path },
    async run({ api }, { agent_name, record_id, path: named }) {
      const params = { name: agent_name, record: record_id }
      const response = await api.open(getRecordFile, { params, query: { path: named } })
      if (!response.ok) throw await errorOf(response)
      const { text, truncated } = await beginningOf(response)
      return { agent_name, record_id, path: named, content: text, truncated }
    },
  }),
]

async function beginningOf(response: Response): Promise<{ text: string; truncated: boolean }> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    length += chunk.length
    if (length > maxFileBytes) break
  }
  const text = Buffer.concat(chunks).subarray(0, maxFileBytes).toString('utf8')
  return { text, truncated: length > maxFileBytes }
}
