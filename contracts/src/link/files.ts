/** What the platform asks of the files of a workspace. */

/** Paths are absolute inside /home/developer; the agent resolves links and refuses what leaves it. */
export type FileList = { t: 'fs.list'; path: string; depth: number; show_hidden: boolean; limit: number }
export type FileListAnswer = { tree: FileNode[]; total_files: number; truncated: boolean }
export type FileNode = {
  name: string
  path: string
  type: 'file' | 'directory'
  size?: number
  modified?: string
  children?: FileNode[]
  file_count?: number
}
/** `guarded`: who asks may not see the credentials, by whatever name or link they are reached. */
export type FileStat = { t: 'fs.stat'; path: string; guarded?: boolean }
export type FileStatAnswer = { type: 'file' | 'directory'; size: number; modified: string; mode: number }
export type FileRead = { t: 'fs.read'; path: string; offset: number; length: number; guarded?: boolean }
export type FileReadAnswer = { data_base64: string; size: number; eof: boolean }
/** First chunk has offset 0; the file appears under its name, atomically, with the last chunk. */
export type FileWrite = {
  t: 'fs.write'
  path: string
  upload_id: string
  offset: number
  data_base64: string
  last: boolean
  mode?: number
  /** `rename` picks a free name beside a taken one. */
  on_conflict: 'replace' | 'rename'
}
export type FileWriteAnswer = { path: string; size: number }
export type FileDelete = { t: 'fs.delete'; path: string }
export type FileMkdir = { t: 'fs.mkdir'; path: string }
export type PathAnswer = { path: string }
/** Packs a directory as tar.gz into a temporary file of the agent and answers it for `fs.read`. */
export type FilePack = { t: 'fs.pack'; path: string; max_bytes: number; guarded?: boolean }
export type FilePackAnswer = { handle: string; size: number }
export type FileReadPack = { t: 'fs.read_pack'; handle: string; offset: number; length: number }
