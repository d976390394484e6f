const reasons: Record<string, string> = {
  EACCES: 'permission denied. Run as its owner, or change the owner (chown)',
  EPERM: 'this user may not change it. Run as its owner, or change the owner (chown)',
  ENOSPC: 'the disk is full. Free some space, then run it again',
  EDQUOT: 'the disk quota of this user is used up. Free some space, then run it again',
  EROFS: 'its file system is read-only. Choose another path',
  ENOTDIR: 'a file is where a folder is expected. Choose another path',
  EEXIST: 'something else is where a folder is expected. Choose another path',
  EISDIR: 'a folder is where a file is expected. Move it away',
}

/** Explains a file system error and its remedy; returns null for other errors. */
export function systemErrorMessage(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return null
  const reason = reasons[String(error.code)]
  if (reason === undefined) return null
  // An error of `write` has no path, because the call gets only a file descriptor.
  return 'path' in error ? `${String(error.path)}: ${reason}.` : `Cannot ${String(error.syscall)}: ${reason}.`
}
