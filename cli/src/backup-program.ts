import { askHidden } from './client/hidden-input.ts'
import { repository } from './machine/repository.ts'
import { platformEnvironment, readDotenv } from './platform/environment.ts'
import { runStep } from './platform/run-step.ts'
import { createStopRequest } from './platform/stop-request.ts'
import { ProcessFailed } from './platform/supervised-process.ts'

export const passphraseName = 'ROOST_BACKUP_PASSPHRASE'
export const passphraseHelp = [
  `The passphrase (at least 12 characters) is prompted for, or read from ${passphraseName} or standard`,
  'input. Without it the encryption key in the backup is lost, and with it every secret.',
]

export async function environment(dataDir: string | undefined) {
  return platformEnvironment({
    shell: process.env,
    dotenv: await readDotenv(repository.dotenv),
    options: { ROOST_DATA_DIR: dataDir },
    cwd: process.cwd(),
    root: repository.root,
  })
}

/** Returns null when the confirmation differs. */
export async function passphraseFor(
  env: NodeJS.ProcessEnv,
  { mustConfirm }: { mustConfirm: boolean },
): Promise<string | null> {
  const fromEnvironment = env[passphraseName]
  if (fromEnvironment) return fromEnvironment
  const typed = await askHidden('Passphrase: ')
  if (!mustConfirm || !process.stdin.isTTY) return typed
  return (await askHidden('Confirm passphrase: ')) === typed ? typed : null
}

export async function runBackupProgram(
  name: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  file: string = repository.backup,
): Promise<number> {
  // The program removes its jobs and scratch volumes first; in a container it would end with this process.
  const stop = createStopRequest()
  const { signal } = stop
  try {
    const onProgress = (line: string) => console.log(line)
    await runStep({ file, args, env, cwd: repository.root, onProgress, signal })
    return 0
  } catch (error) {
    if (signal.aborted) return 130
    if (!(error instanceof ProcessFailed)) throw error
    console.error(`roost ${name}: ${error.message}`)
    return error.exitCode
  } finally {
    stop.dispose()
  }
}
