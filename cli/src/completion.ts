import { type Command, UsageError } from './command.ts'

/** `commands` is a function because this command is an element of that list. */
export function createCompletion(commands: () => readonly Command[]): Command {
  return {
    name: 'completion',
    summary: 'Print the shell completion script.',
    usage: [
      'roost completion bash|zsh',
      '',
      'bash: eval "$(roost completion bash)"    in ~/.bashrc',
      'zsh:  eval "$(roost completion zsh)"     in ~/.zshrc',
    ],
    completions: ['bash', 'zsh'],
    async run([shell, ...extra]) {
      if (extra.length > 0) throw new UsageError(`Unexpected argument ${JSON.stringify(extra[0])}.`)
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
  const descriptions = commands.map(
    ({ name, summary }) => `    '${name}:${summary.replaceAll("'", "'\\''")}'`,
  )
  return `_roost() {
  local -a commands=(
${descriptions.join('\n')}
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
  const words = commands.map(({ name, completions = [] }) => ({ name, completions }))
  return [...words, { name: 'help', completions: words.map(({ name }) => name) }]
    .filter(({ completions }) => completions.length > 0)
    .map(({ name, completions }) => `      ${name}) choices='${completions.join(' ')}' ;;`)
    .join('\n')
}
