import { spawn } from 'node:child_process'
import { basename, dirname } from 'node:path'

/**
 * Allocated bytes of each volume's data folder, by volume name. Runs `du` with low priority: reading a million
 * files here would occupy the platform's own threads.
 */
export async function volumeSizes(
  folders: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  if (folders.length === 0) return new Map()
  const args = ['-n', '19', 'du', '-s', '-x', '-B1', '--', ...folders]
  const child = spawn('nice', args, { stdio: ['ignore', 'pipe', 'ignore'], signal })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  // A file that disappears during the walk ends `du` with 1, and its figures are still right.
  await new Promise<void>((resolve, reject) => child.on('error', reject).on('close', () => resolve()))
  const sizes = output.split('\n').flatMap((line): [string, number][] => {
    const [bytes, folder] = line.split('\t')
    return folder ? [[basename(dirname(folder)), Number(bytes)]] : []
  })
  return new Map(sizes)
}
