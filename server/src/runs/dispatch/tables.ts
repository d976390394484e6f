/** Files of runs that have not ended; removed in the transaction that ends the run. */
export type ExecutionAttachmentsTable = {
  execution_id: string
  position: number
  name: string
  mimetype: string
  size: number
  data_base64: string
}

export type DispatchTables = { execution_attachments: ExecutionAttachmentsTable }
