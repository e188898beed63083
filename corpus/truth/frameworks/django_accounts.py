from django.db import models, transaction


class Account(models.Model):
    balance = models.IntegerField()

    class Meta:
        db_table = "accounts"


@transaction.atomic
def deposit(id, amount):
    account = Account.objects.get(pk=id)
    account.balance = account.balance + amount
    account.save()
