import { File, FileCode, FileImage, FileLock, FileText, Folder, FolderLock, FolderOpen } from 'lucide-react'
import { isProtected, nameOf } from './paths.ts'

export type EntryIconProps = { kind: 'folder' | 'file'; path: string; isOpen?: boolean }

export function EntryIcon({ kind, path, isOpen = false }: EntryIconProps) {
  const Icon = iconOf(kind, path, isOpen)
  return <Icon aria-hidden className="size-4 shrink-0 text-faint" />
}

function iconOf(kind: 'folder' | 'file', path: string, isOpen: boolean) {
  if (kind === 'folder') return isProtected(path) ? FolderLock : isOpen ? FolderOpen : Folder
  if (isProtected(path)) return FileLock
  const name = nameOf(path)
  if (/\.(png|jpe?g|gif|webp|svg|ico|avif)$/i.test(name)) return FileImage
  if (/\.(md|markdown|txt|rst|log|csv|tsv|pdf)$/i.test(name)) return FileText
  return /\.[a-z]{1,4}$/i.test(name) ? FileCode : File
}
