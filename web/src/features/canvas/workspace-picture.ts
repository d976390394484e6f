import type { Client } from '@roost/contracts/client'
import { queryOptions } from '@tanstack/react-query'
import { readFile } from '../workspace/read-file.ts'
import { canvasKey } from './queries.ts'

/** An image of an agent's workspace as a data URL, because an image element cannot send the bearer token. */
export const workspacePictureQuery = (api: Client, name: string, path: string) =>
  queryOptions({
    queryKey: [...canvasKey(name), 'picture', path],
    queryFn: async ({ signal }) => {
      const file = await readFile(api, name, path, signal)
      if (file.kind !== 'image') throw new Error('This file is not an image.')
      return dataUrlOf(file.blob)
    },
  })

function dataUrlOf(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    // `readAsDataURL` always gives a string.
    reader.onload = () => resolve(reader.result as string)
    reader.onerror = () => reject(reader.error ?? new Error('The image could not be read.'))
    reader.readAsDataURL(blob)
  })
}
