import { join } from 'node:path'
import type { FileReadAnswer } from '@roost/contracts/link/files'
import { fileChunkBytes } from '@roost/contracts/link/messages'
import type { Paths } from './paths.ts'
import { readChunk } from './read.ts'

/** `template.yaml` and the metrics are untrusted; larger files are ignored. */
const whole = { offset: 0, length: fileChunkBytes }

/** Everybody who may use the agent sees these files, so they are read as for a person with shared access. */
export async function readWorkspaceInfo(paths: Paths) {
  const read = (path: string) =>
    textOf(readChunk(paths, { path: join(paths.home, path), ...whole, guarded: true }))
  const metrics = await read('metrics.json')
  return {
    template_yaml: await read('template.yaml'),
    metrics_json: metrics ?? (await read('workspace/metrics.json')),
  }
}

async function textOf(reading: Promise<FileReadAnswer>): Promise<string | null> {
  const answer = await reading.catch(() => null)
  return answer?.eof ? Buffer.from(answer.data_base64, 'base64').toString('utf8') : null
}
