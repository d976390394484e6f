import { repository } from '../machine/repository.ts'
import { run } from '../machine/run.ts'
import { ReleaseError } from './error.ts'

/** `runtime` is null for the images of the platform and of backups. */
export type BuiltImage = { runtime: string | null; image: string }

/** Returns the images of this checkout, built or not. Throws `ReleaseError` without a container engine. */
export async function builtImages(env: NodeJS.ProcessEnv): Promise<BuiltImage[]> {
  const args = [repository.images, '--check', '--platform']
  const { code, stdout, lastLines } = await run(process.execPath, args, { env })
  if (code !== 0) throw new ReleaseError(`The images cannot be listed: ${lastLines.join('\n')}`)
  return stdout
    .trim()
    .split('\n')
    .map((line) => {
      const [kind = '', image = ''] = line.split(' ')
      return { runtime: kind === 'platform' ? null : kind, image }
    })
}
