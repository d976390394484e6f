import { PriceTable, putModelPrices } from '@roost/contracts/runs/model-prices'
import { FileUp } from 'lucide-react'
import { useRef } from 'react'
import { z } from 'zod'
import { storeReply } from '../../live/store-reply.ts'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogButtons } from '../../ui/dialog.tsx'
import { DropZone } from '../../ui/drop-zone.tsx'
import { Form, FormError, TextareaField, useZodForm } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { modelPricesKey } from './queries.ts'

type ImportProps = { isOpen: boolean; custom: PriceTable | null; onClose: () => void }

/** Imports a price table, pasted or from a file. */
export function ImportPricesDialog({ isOpen, custom, onClose }: ImportProps) {
  return (
    <Dialog
      open={isOpen}
      onOpenChange={onClose}
      size="lg"
      title="Import price table"
      description="JSON in the format of the built-in table. Its rows replace and extend the built-in ones from the next model request on, and replace what was imported before. Stored costs do not change."
    >
      {isOpen && <ImportForm custom={custom} onClose={onClose} />}
    </Dialog>
  )
}

const Fields = z.object({
  text: z.string().superRefine((text, context) => {
    for (const message of faultsOf(text).slice(0, 5)) context.addIssue({ code: 'custom', message })
  }),
})

/** One sentence for each fault, with its place in the table. */
function faultsOf(text: string): string[] {
  const document = parsed(text)
  if (document === undefined) return ['The text is not JSON.']
  const issues = PriceTable.safeParse(document).error?.issues ?? []
  return issues.map(({ path, message }) => `${path.join('.') || 'The table'}: ${message}.`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function ImportForm({ custom, onClose }: Omit<ImportProps, 'isOpen'>) {
  const { api, queries } = useApp()
  const input = useRef<HTMLInputElement>(null)
  const form = useZodForm(Fields, {
    defaultValues: { text: custom === null ? '' : JSON.stringify(custom, null, 2) },
  })
  async function take([file]: readonly File[]): Promise<void> {
    if (file) form.setValue('text', await file.text(), { shouldDirty: true, shouldValidate: true })
  }
  async function save({ text }: z.output<typeof Fields>): Promise<void> {
    // The field has checked it.
    const body = PriceTable.parse(JSON.parse(text))
    await storeReply(queries, modelPricesKey, await api.call(putModelPrices, { body }))
    toast({ title: 'Price table imported. It applies to the next model request.', tone: 'success' })
    onClose()
  }
  return (
    <DropZone label="Drop a price table" onFiles={take}>
      <Form form={form} onSubmit={save} label="Import">
        <TextareaField name="text" label="Price table" rows={14} mono required spellCheck={false} />
        <div>
          <Button size="sm" icon={<FileUp aria-hidden />} onClick={() => input.current?.click()}>
            Choose file…
          </Button>
          <input
            ref={input}
            type="file"
            accept="application/json,.json"
            hidden
            aria-label="Price table file"
            onChange={(event) => {
              void take([...(event.target.files ?? [])])
              event.target.value = ''
            }}
          />
        </div>
        <FormError />
        <DialogButtons>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
            Import table
          </Button>
        </DialogButtons>
      </Form>
    </DropZone>
  )
}
