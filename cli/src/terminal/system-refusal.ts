const reasons: Record<string, string> = {
  EACCES: 'this user may not use it: start as its owner, or give it to this user (chown)',
  EPERM: 'this user may not change it: start as its owner, or give it to this user (chown)',
  ENOSPC: 'the disk is full: make room, then run it again',
  EDQUOT: 'the quota of this user is used up: make room, then run it again',
  EROFS: 'its file system is read-only: choose another place',
  ENOTDIR: 'there is a file where a folder should be: choose another place',
  EEXIST: 'there is something else where a folder should be: choose another place',
  EISDIR: 'there is a folder where a file should be: move it away',
}

/** In plain words, what the system would not do with a file or folder; null when the error is no such thing. */
export function refusalOfSystem(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return null
  const reason = reasons[String(error.code)]
  if (reason === undefined) return null
  // A write names no file: it knows only its open descriptor.
  return 'path' in error ? `${String(error.path)}: ${reason}.` : `Cannot ${String(error.syscall)}: ${reason}.`
}
