import { type Command, readArguments } from './command.ts'
import { repository } from './machine/repository.ts'
import { platformEnvironment, readDotenv } from './platform/environment.ts'
import { ProcessFailed } from './platform/kept-process.ts'
import { runStep } from './platform/run-step.ts'

export const regainAdmin: Command = {
  name: 'regain-admin',
  summary: 'Give the admin account a new password, when nobody can sign in any more.',
  usage: [
    'roost regain-admin [--data-dir FOLDER]',
    '',
    '--data-dir FOLDER  of the installation (ROOST_DATA_DIR, ./data)',
    '',
    'On the machine that the platform is installed on, while it runs or not. The account `admin` gets a new',
    'password, which is printed once; it is admin again, not suspended, and without its second factor, and',
    'its sessions end within ten seconds. The audit log tells of it.',
  ],
  async run(args) {
    const { values } = readArguments({ args, options: { 'data-dir': { type: 'string' } } })
    const env = platformEnvironment({
      shell: process.env,
      dotenv: await readDotenv(repository.dotenv),
      options: { ROOST_DATA_DIR: values['data-dir'] },
      cwd: process.cwd(),
      root: repository.root,
    })
    try {
      const onProgress = (line: string) => console.log(line)
      await runStep({ file: repository.regainAdmin, env, cwd: repository.root, onProgress })
      return 0
    } catch (error) {
      if (!(error instanceof ProcessFailed)) throw error
      console.error(`roost regain-admin: ${error.message}`)
      return error.exitCode
    }
  },
}
