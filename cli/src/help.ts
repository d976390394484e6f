import { type Command, UsageError } from './command.ts'
import { readVersion } from './machine/repository.ts'

export const version: Command = {
  name: 'version',
  summary: 'Print the version of Roost and of the Node it runs on.',
  usage: ['roost version'],
  async run(args) {
    if (args.length > 0) throw new UsageError(`${JSON.stringify(args[0])} is not understood.`)
    console.log(`Roost ${await readVersion()} on Node ${process.versions.node}`)
    return 0
  },
}

/** The list of commands, or what one of them takes. */
export function help(commands: Command[], [name]: string[]): number {
  if (name === undefined) {
    const width = Math.max(...commands.map((command) => command.name.length))
    console.log('Roost hosts AI agents on your own machine.\n')
    for (const command of commands) console.log(`  roost ${command.name.padEnd(width)}  ${command.summary}`)
    console.log('\n`roost help COMMAND` says what a command takes.')
    return 0
  }
  const command = commands.find((each) => each.name === name)
  if (!command) {
    console.error(`roost help: there is no command ${JSON.stringify(name)}. \`roost help\` lists them.`)
    return 2
  }
  console.log(`${command.summary}\n\n${command.usage.map((line) => `  ${line}`).join('\n')}`)
  return 0
}
