import { type Command, readArguments } from './command.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'Say in plain words what is wrong with this machine or installation.',
  usage: ['roost doctor [--data-dir FOLDER]'],
  async run(args) {
    readArguments({ args, options: {} })
    return 0
  },
}
