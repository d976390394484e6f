import { type ReactNode, useState } from 'react'
import { Bytes } from '../../ui/bytes.tsx'
import { useObjectUrl } from '../../ui/use-object-url.ts'
import type { FileContent } from './read-file.ts'

export type MediaViewProps = {
  name: string
  file: Extract<FileContent, { kind: 'media' }>
  /** Shown for bytes that the browser cannot play. */
  fallback: ReactNode
}

/** Plays audio or video from memory. */
export function MediaView({ name, file, fallback }: MediaViewProps) {
  const url = useObjectUrl(file.blob)
  const [broken, setBroken] = useState<Blob | null>(null)
  if (broken === file.blob) return fallback
  const Player = file.blob.type.startsWith('video/') ? 'video' : 'audio'
  return (
    <>
      <div className="m-4 mb-0 grid min-h-0 flex-1 place-items-center overflow-hidden rounded-md border border-line bg-sunken p-4">
        {url && (
          // A file of the workspace has no captions.
          <Player
            controls
            src={url}
            aria-label={name}
            className="max-h-full max-w-full"
            onError={() => setBroken(file.blob)}
          />
        )}
      </div>
      <p className="px-4 py-2 text-xs text-muted">
        <Bytes bytes={file.size} />
      </p>
    </>
  )
}
