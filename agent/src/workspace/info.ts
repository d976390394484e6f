import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { isDirectory } from './paths.ts'

/** `template.yaml` and the metrics are untrusted; larger files are ignored. */
const maxBytes = 256 * 1024

export async function readWorkspaceInfo(home: string) {
  const metrics = await readSmall(join(home, 'metrics.json'))
  return {
    template_yaml: await readSmall(join(home, 'template.yaml')),
    metrics_json: metrics ?? (await readSmall(join(home, 'workspace', 'metrics.json'))),
  }
}

/** Returns the text of a file of at most 256 KiB, else null. */
export async function readSmall(path: string): Promise<string | null> {
  try {
    if (await isDirectory(path)) return null
    await using file = await open(path, 'r')
    const { size } = await file.stat()
    if (size > maxBytes) return null
    return (await file.readFile()).toString('utf8')
  } catch {
    return null
  }
}
