import { type BlockOf, imageKind } from '@roost/contracts/conversations/canvas-blocks'
import { useQuery } from '@tanstack/react-query'
import { ExternalLink, ImageOff } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { workspacePictureQuery } from './workspace-picture.ts'

type ImageBlockProps = {
  payload: BlockOf<'image'>['payload']
  label: string
  /** The agent whose files the reader may read; null: none. */
  filesOf: string | null
}

/** An image with its caption. */
export function ImageBlock({ payload: { src, caption }, label, filesOf }: ImageBlockProps) {
  return (
    <figure className="m-0 min-w-0">
      <Picture src={src} alt={caption || label} filesOf={filesOf} />
      {caption && <figcaption className="mt-2 text-muted text-xs">{caption}</figcaption>}
    </figure>
  )
}

function Picture({ src, alt, filesOf }: { src: string; alt: string; filesOf: string | null }) {
  switch (imageKind(src)) {
    case 'data':
      return <img src={src} alt={alt} className={pictureClass} />
    case 'web':
      return <WebPicture src={src} />
    case 'workspace':
      return filesOf === null ? (
        <p className="flex items-center gap-2 text-muted text-sm">
          <ImageOff aria-hidden className="size-4 shrink-0" />
          This image is in the agent’s workspace and is shown only on the agent’s page.
        </p>
      ) : (
        <WorkspacePicture name={filesOf} path={src} alt={alt} />
      )
  }
}

/** External images are links: loading them would reveal the reader to another server. */
function WebPicture({ src }: { src: string }) {
  return (
    <a
      href={src}
      target="_blank"
      rel="noopener noreferrer"
      className="inline-flex max-w-full items-center gap-1.5 text-accent text-sm hover:underline"
    >
      <ExternalLink aria-hidden className="size-4 shrink-0" />
      <span className="truncate">Open image at {new URL(src).hostname}</span>
    </a>
  )
}

function WorkspacePicture({ name, path, alt }: { name: string; path: string; alt: string }) {
  const picture = useQuery(workspacePictureQuery(useApi(), name, path))
  if (picture.data) return <img src={picture.data} alt={alt} className={pictureClass} />
  if (!picture.error) return <Skeleton className="h-40 w-full" />
  return (
    <ErrorState
      title="Could not read the image from the workspace"
      error={picture.error}
      onRetry={() => void picture.refetch()}
    />
  )
}

const pictureClass = 'max-h-[36rem] max-w-full rounded-md object-contain'
