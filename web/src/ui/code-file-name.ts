/** Languages whose name is not the usual extension of their files. */
const extensions = new Map(
  Object.entries({
    bash: 'sh',
    csharp: 'cs',
    javascript: 'js',
    kotlin: 'kt',
    markdown: 'md',
    mermaid: 'mmd',
    patch: 'diff',
    perl: 'pl',
    python: 'py',
    ruby: 'rb',
    rust: 'rs',
    shell: 'sh',
    text: 'txt',
    typescript: 'ts',
    yaml: 'yml',
    zsh: 'sh',
  }),
)

/**
 * The name under which a code block is saved: the last part of its title if that is a file name, else `code` with the
 * extension of its language. Both come from an agent, so only harmless characters are kept.
 */
export function codeFileName(title: string | undefined, language: string): string {
  const last = title?.split(/[\\/]/).at(-1) ?? ''
  if (/^[\w-][\w .-]{0,98}\.\w{1,10}$/.test(last)) return last
  const name = language.toLowerCase()
  const extension = extensions.get(name) ?? (/^[a-z0-9]{1,10}$/.test(name) ? name : 'txt')
  return `code.${extension}`
}
