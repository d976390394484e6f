import { type Command, readArguments } from './command.ts'
import { repository } from './machine/repository.ts'
import { platformEnvironment, readDotenv } from './platform/environment.ts'
import { runStep } from './platform/run-step.ts'
import { ProcessFailed } from './platform/supervised-process.ts'

export const regainAdmin: Command = {
  name: 'regain-admin',
  summary: 'Reset the password of the admin account when nobody can sign in.',
  usage: [
    'roost regain-admin [--data-dir FOLDER]',
    '',
    '--data-dir FOLDER  data folder of the installation (default ROOST_DATA_DIR or ./data)',
    '',
    'Run it on the platform’s machine; the platform may be running. The account `admin` gets a new password,',
    'which is printed once. The account is an admin again, not suspended, and has no second factor.',
    'Its sessions end within ten seconds. The audit log records the reset.',
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
