import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { type Command, readArguments, readPort, UsageError } from './command.ts'
import { repository } from './machine/repository.ts'

export const model: Command = {
  name: 'model',
  summary: 'Run the scripted model server: answers of a provider without a provider.',
  usage: [
    'roost model --port N [--log FILE]',
    '',
    '--port N    where it listens on 127.0.0.1; 0 takes any free port',
    '--log FILE  one JSON line for each request',
  ],
  async run(args) {
    const { values } = readArguments({
      args,
      options: { port: { type: 'string' }, log: { type: 'string' } },
    })
    if (values.port === undefined) throw new UsageError('It needs --port N.')
    const port = readPort('--port', values.port, 'zero is any')
    const log = values.log === undefined ? [] : ['--log', resolve(values.log)]
    const child = spawn(process.execPath, [repository.modelServer, '--port', String(port), ...log], {
      stdio: 'inherit',
    })
    // The terminal tells both of Ctrl-C; whoever stops only this process means both as well.
    process.on('SIGINT', () => {})
    process.on('SIGTERM', () => child.kill('SIGTERM'))
    return new Promise((done) => child.on('close', (code) => done(code ?? 1)))
  },
}
