import { ApiError } from '@roost/contracts/client'
import { credentialPathFault, maxCredentialFiles } from '@roost/contracts/link/credentials'
import { FileUp, Plus, X } from 'lucide-react'
import { useRef } from 'react'
import { type UseFieldArrayReturn, useFieldArray } from 'react-hook-form'
import { z } from 'zod'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { DropZone } from '../../ui/drop-zone.tsx'
import { Form, FormError, TextareaField, TextField, useZodForm } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { useInjectFiles } from './actions.ts'
import { type CredentialFile, readCredentialFile } from './credential-file.ts'

type PutFilesProps = { name: string; isOpen: boolean; onClose: () => void }

/** Adds credential files, typed or from the computer. */
export function PutFilesDialog({ name, isOpen, onClose }: PutFilesProps) {
  return (
    <Dialog
      open={isOpen}
      onOpenChange={onClose}
      size="lg"
      title={`Credential files of ${name}`}
      description="Allowed: .env, .mcp.json, keys and certificates, JSON credentials, and files in credentials/. At most 1 MiB each. Either all files are written or none."
    >
      {isOpen && <PutFilesForm name={name} onClose={onClose} />}
    </Dialog>
  )
}

const File = z.object({
  path: z.string().superRefine((path, context) => {
    const fault = credentialPathFault(path)
    if (fault !== null) context.addIssue({ code: 'custom', message: `The path ${fault}.` })
  }),
  text: z.string(),
  /** Content of a binary file; null for `text`. */
  base64: z.string().nullable(),
})
const Files = z
  .object({ files: z.array(File).min(1).max(maxCredentialFiles) })
  .superRefine(({ files }, context) => {
    for (const [index, { path }] of files.entries()) {
      if (files.findIndex((other) => other.path === path) === index) continue
      context.addIssue({
        code: 'custom',
        path: ['files', index, 'path'],
        message: 'The path is used twice.',
      })
    }
  })
type Fields = z.input<typeof Files>

function PutFilesForm({ name, onClose }: Omit<PutFilesProps, 'isOpen'>) {
  const inject = useInjectFiles(name)
  const form = useZodForm(Files, { defaultValues: { files: [{ path: '', text: '', base64: null }] } })
  const list = useFieldArray({ control: form.control, name: 'files' })
  const take = async (picked: readonly globalThis.File[]) => addFiles(list, form.getValues('files'), picked)
  async function put({ files }: z.output<typeof Files>): Promise<void> {
    const texts = files.flatMap(({ path, text, base64 }) => (base64 === null ? [[path, text]] : []))
    const bytes = files.flatMap(({ path, base64 }) => (base64 === null ? [] : [[path, base64]]))
    try {
      await inject({ files: Object.fromEntries(texts), files_b64: Object.fromEntries(bytes) })
    } catch (error) {
      throw atPath(error, files)
    }
    onClose()
  }
  return (
    <DropZone label="Drop files to add them" onFiles={take}>
      <Form form={form} onSubmit={put} label="Files">
        {list.fields.map(({ id, base64 }, index) => (
          <div key={id} className="flex min-w-0 items-start gap-2 border-b pb-4">
            <div className="flex min-w-0 flex-1 flex-col gap-3">
              <TextField
                name={`files.${index}.path`}
                label="Path in the workspace"
                placeholder="credentials/service.pem"
                mono
                required
                autoComplete="off"
                spellCheck={false}
              />
              {base64 === null ? (
                <TextareaField
                  name={`files.${index}.text`}
                  label="Content"
                  rows={4}
                  mono
                  spellCheck={false}
                />
              ) : (
                <p className="text-muted text-xs">A binary file, written unchanged.</p>
              )}
            </div>
            <IconButton
              label={`Remove file ${index + 1}`}
              icon={<X aria-hidden />}
              className="mt-6.5"
              onClick={() => list.remove(index)}
            />
          </div>
        ))}
        <AddButtons
          onAdd={() => list.append({ path: '', text: '', base64: null })}
          onFiles={(files) => void take(files)}
        />
        <FormError />
        <DialogButtons>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            variant="primary"
            disabled={list.fields.length === 0}
            pending={form.formState.isSubmitting}
          >
            Write files
          </Button>
        </DialogButtons>
      </Form>
    </DropZone>
  )
}

function AddButtons({ onAdd, onFiles }: { onAdd: () => void; onFiles: (files: globalThis.File[]) => void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <div className="flex flex-wrap gap-2">
      <Button size="sm" icon={<Plus aria-hidden />} onClick={onAdd}>
        Add file
      </Button>
      <Button size="sm" icon={<FileUp aria-hidden />} onClick={() => input.current?.click()}>
        Choose files…
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files from this computer"
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])])
          event.target.value = ''
        }}
      />
    </div>
  )
}

async function addFiles(
  list: UseFieldArrayReturn<Fields, 'files'>,
  before: readonly CredentialFile[],
  picked: readonly globalThis.File[],
): Promise<void> {
  const added = await Promise.all(picked.map(readCredentialFile))
  const tooLarge = picked.filter((_, index) => added[index] === null)
  if (tooLarge.length > 0) {
    toast({
      title: `A credential file can have at most 1 MiB.`,
      description: tooLarge.map((file) => file.name).join(', '),
      tone: 'danger',
    })
  }
  const nonEmpty = before.filter(({ path, text, base64 }) => path !== '' || text !== '' || base64 !== null)
  list.replace([...nonEmpty, ...added.filter((file) => file !== null)])
}

/** Assigns an error that names a path to the field of that path. */
function atPath(error: unknown, files: readonly { path: string }[]): unknown {
  if (!(error instanceof ApiError) || error.body === null) return error
  const code = error.body.error
  const named = code === 'invalid_mcp_json' ? '.mcp.json' : error.body.path
  const index = files.findIndex(({ path }) => path === named)
  if (index < 0) return error
  const field = `files.${index}.${code === 'invalid_mcp_json' ? 'text' : 'path'}`
  return new ApiError(error.status, { ...error.body, field })
}
