import { DatabaseSync } from 'node:sqlite'

export type Lock = { attempt(): Promise<boolean>; end(): Promise<void> }

/** A lock that ends with its process, and that processes in other containers with the same volume see too. */
export function fileLock(path: string): Lock {
  const file = new DatabaseSync(path, { timeout: 0 })
  return {
    async attempt() {
      try {
        file.exec('begin exclusive')
        return true
      } catch (error) {
        if (error instanceof Error && /locked/.test(error.message)) return false
        throw error
      }
    },
    async end() {
      file.close()
    },
  }
}
