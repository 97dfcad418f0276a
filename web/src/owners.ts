// Who holds a GPU, in words.

export interface Owner {
  user: string | null;
  batch_job: string | null;
  batch_account: string | null;
  pod: string | null;
}

/** "ann, job 12, account physics" */
export function ownerWords(owner: Owner | undefined): string {
  if (!owner) return "";
  const { user, batch_job: job, batch_account: account, pod } = owner;
  return [user, job ? `job ${job}` : "", account ? `account ${account}` : "", pod ? `pod ${pod}` : ""].filter(Boolean).join(", ");
}
