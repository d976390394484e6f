import { type Command, UsageError } from './command.ts'

/** `commands` is asked for when the command runs: it is one of them. */
export function createCompletion(commands: () => readonly Command[]): Command {
  return {
    name: 'completion',
    summary: 'The script that completes commands in a shell.',
    usage: [
      'roost completion bash|zsh',
      '',
      'bash: eval "$(roost completion bash)"    in ~/.bashrc',
      'zsh:  eval "$(roost completion zsh)"     in ~/.zshrc',
    ],
    verbs: ['bash', 'zsh'],
    async run([shell, ...more]) {
      if (more.length > 0) throw new UsageError(`${JSON.stringify(more[0])} is not understood.`)
      if (shell !== 'bash' && shell !== 'zsh') throw new UsageError('The shell must be bash or zsh.')
      console.log(shell === 'bash' ? bash(commands()) : zsh(commands()))
      return 0
    },
  }
}

function bash(commands: readonly Command[]): string {
  return `_roost() {
  local word=\${COMP_WORDS[COMP_CWORD]} choices=
  if [ "$COMP_CWORD" = 1 ]; then
    choices='${commands.map(({ name }) => name).join(' ')} help'
  elif [ "$COMP_CWORD" = 2 ]; then
    case \${COMP_WORDS[1]} in
${cases(commands)}
    esac
  fi
  case $word in -*) choices="$choices --json --server --help" ;; esac
  COMPREPLY=($(compgen -W "$choices" -- "$word"))
}
complete -F _roost roost`
}

function zsh(commands: readonly Command[]): string {
  const described = commands.map(({ name, summary }) => `    '${name}:${summary.replaceAll("'", "'\\''")}'`)
  return `_roost() {
  local -a commands=(
${described.join('\n')}
  )
  local choices=
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  elif (( CURRENT == 3 )); then
    case $words[2] in
${cases(commands)}
    esac
  fi
  compadd -- \${=choices} --json --server --help
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _roost roost`
}

function cases(commands: readonly Command[]): string {
  const words = commands.map(({ name, verbs = [] }) => ({ name, verbs }))
  return [...words, { name: 'help', verbs: words.map(({ name }) => name) }]
    .filter(({ verbs }) => verbs.length > 0)
    .map(({ name, verbs }) => `      ${name}) choices='${verbs.join(' ')}' ;;`)
    .join('\n')
}
