import { type ReactNode, useState } from 'react'
import { Bytes } from '../../ui/bytes.tsx'
import { useObjectUrl } from '../../ui/use-object-url.ts'
import type { FileContent } from './read-file.ts'

export type ImageViewProps = {
  name: string
  file: Extract<FileContent, { kind: 'image' }>
  /** Shown for bytes that are not an image. */
  fallback: ReactNode
}

/** An image, scaled to fit. Loaded with the bearer token and drawn from memory. */
export function ImageView({ name, file, fallback }: ImageViewProps) {
  const url = useObjectUrl(file.blob)
  const [drawn, setDrawn] = useState<{ width: number; height: number } | null>(null)
  const [broken, setBroken] = useState<Blob | null>(null)
  if (broken === file.blob) return fallback
  return (
    <>
      <div className="m-4 mb-0 grid min-h-0 flex-1 place-items-center overflow-hidden rounded-md border border-line bg-sunken p-4">
        {url && (
          <img
            src={url}
            alt={name}
            className="max-h-full max-w-full object-contain"
            onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
              setDrawn({ width: naturalWidth, height: naturalHeight })
            }
            onError={() => setBroken(file.blob)}
          />
        )}
      </div>
      <p className="flex shrink-0 gap-x-4 px-4 py-2 text-xs text-muted">
        <Bytes bytes={file.size} />
        {drawn && (
          <span data-numeric>
            {drawn.width} × {drawn.height} pixels
          </span>
        )}
      </p>
    </>
  )
}
