import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { type Command, readArguments, readPort, UsageError } from './command.ts'
import { repository } from './machine/repository.ts'

export const model: Command = {
  name: 'model',
  summary: 'Run the scripted model server, a stand-in for the model providers.',
  usage: [
    'roost model --port N [--log FILE]',
    '',
    '--port N    port to listen on at 127.0.0.1; 0 selects a free one',
    '--log FILE  write one JSON line per request',
  ],
  async run(args) {
    const { values } = readArguments({
      args,
      options: { port: { type: 'string' }, log: { type: 'string' } },
    })
    if (values.port === undefined) throw new UsageError('Missing option --port N.')
    const port = readPort('--port', values.port, 'any free port')
    const log = values.log === undefined ? [] : ['--log', resolve(values.log)]
    const child = spawn(process.execPath, [repository.modelServer, '--port', String(port), ...log], {
      stdio: 'inherit',
    })
    // Ctrl-C reaches both processes through the terminal; SIGTERM reaches only this one and is passed on.
    process.on('SIGINT', () => {})
    process.on('SIGTERM', () => child.kill('SIGTERM'))
    return new Promise((done) => child.on('close', (code) => done(code ?? 1)))
  },
}
