/** The folder of the workspace for files that come with messages. */
export const uploadsFolder = 'uploads'

/** The message with the paths of its files in the workspace, as the agent reads it. */
export function withPaths(text: string, paths: readonly string[]): string {
  if (paths.length === 0) return text
  return `${text.trimEnd()}\n\nFiles in the workspace:\n${paths.map((path) => `- ${path}`).join('\n')}`
}

/** The name in the workspace: without slashes, and without characters that break or disguise the line with it. */
export function storedName(name: string): string {
  return name.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029/\\]/gu, '_')
}
